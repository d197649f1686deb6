"""An inspection in at most 2 kB for language models: verdict, figures, findings, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jaxstage_ext.report import measuring
from jaxstage_ext.report.text.brief_text import brief_text
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views import words
from jaxstage_ext.views.brief import brief_wording as wording
from jaxstage_ext.views.summaries import summarised_once, summary_of

if TYPE_CHECKING:
    from jaxstage_ext.findings.found import Findings
    from jaxstage_ext.program.head.summary_form import Summary
    from jaxstage_ext.program.program import Program

_MOST_FINDINGS, _MOST_KINDS = 3, 6
_TIMED = ("persistent cache",)
"""Figures that differ from one compile of a program to the next."""


@measuring.left_alone()
@summarised_once()
def inspection_brief(program: Program) -> str:
    """The short form: equal for equal programs, so that it holds no times; it compiles and runs nothing.

    A program whose findings were not looked for and take more than milliseconds says that.
    """
    summary, parts = summary_of(program), Parts()
    none: list[str] = []
    said = parts.get("The figures", lambda: list(_figures(program, summary)), none)
    looked = parts.get("The findings", lambda: _found().looked_briefly(program), None)
    found = parts.get("The findings", lambda: list(_findings(program, looked)), none)
    stages = [f"{stage['name']} {stage['state']}" for stage in summary["stages"]]
    head = wording.head(summary["signature"], summary["target"], stages).splitlines()
    return brief_text(head, [*_error(summary), *said, *found, *parts.failures], list(_more(program, looked)))


def _error(summary: Summary) -> Iterator[str]:
    headline, message = words.error(summary)
    yield from filter(None, [headline, *message[:3]])
    yield from summary["notes"][: summary.get("urgent", 0)]


def _figures(program: Program, summary: Summary) -> Iterator[str]:
    figures = [words.fact(figure) for figure in summary["facts"] if figure["label"] not in _TIMED]
    yield from filter(None, [" · ".join(figures), ", ".join(words.counts(summary))])
    if not program.has_hlo:
        yield wording.NOTHING_COMPILED
    if _facts().waits_for_measurement(program):
        yield wording.NOT_MEASURED
    yield from _facts().timeless_answers(program)
    if len(program.targets) > 1:
        yield wording.targets([*program.targets])


def _findings(program: Program, found: Findings | None) -> Iterator[str]:
    if found is None:
        yield from [wording.NOT_LOOKED] if program.has_hlo else []
        return
    yield wording.found(len(found)) if len(found) else wording.NO_FINDING
    for finding in found[:_MOST_FINDINGS]:
        first, *change = _found().said_without_times(finding)
        yield f"- [{finding.kind.value}] {first}"
        yield from change
    if len(found) > _MOST_FINDINGS:
        yield wording.more_found(_MOST_FINDINGS)
    if found.waiting:
        yield wording.waiting([one.kind.value for one in found.waiting[:_MOST_KINDS]])


def _more(program: Program, found: Findings | None) -> Iterator[str]:
    if not program.has_hlo:
        return
    yield wording.MORE
    if found is not None and found.best is not None and found.best.can_be_tried:
        yield wording.TRY.replace("[0]", f"[{found.found.index(found.best)}]")
    yield wording.ROWS
    yield wording.NEAR.format(name=_heaviest(program))
    yield wording.ASK


def _heaviest(program: Program) -> str:
    """An instruction to begin with; a made-up one where naming one takes long."""
    return Parts().get("The heaviest", lambda: _facts().heaviest_instruction(program), "") or "fusion"


def _facts() -> Any:
    from jaxstage_ext.program.tab import cheap_facts  # where there is a program, JAX is imported already

    return cheap_facts


def _found() -> Any:
    from jaxstage_ext.findings import found  # where there is a program, JAX is imported already

    return found
