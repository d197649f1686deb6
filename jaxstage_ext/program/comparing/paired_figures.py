"""The figures of two programs side by side, with their difference and ratio where both are known."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from jaxstage_ext.core.options import flag_values
from jaxstage_ext.core.stage import stage_list, stages
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.program.comparing.comparison_columns import COLUMNS, ESTIMATE
from jaxstage_ext.program.comparing.comparison_figures import target_figures
from jaxstage_ext.program.device.target_title import target_title
from jaxstage_ext.program.head import stage_wording
from jaxstage_ext.program.head.call_signature import signature
from jaxstage_ext.program.head.notes import options_of
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.table import is_number
from jaxstage_ext.report.text.public_paths import public_text
from jaxstage_ext.report.view_parts import Parts

_OPERATIONS = {"eqn": "equations", "op": "StableHLO ops", "instr": "HLO instructions"}
"""What stages count, by their noun; the others stand among the figures."""
_PEAK_UNKNOWN = "not computed; its Memory tab computes it"
_NOT_SET = Figure("not set")


@dataclass(frozen=True)
class PairedFigure:
    """One figure of two programs."""

    group: str
    """"call", "time", "size" or "option"."""
    title: str
    doc: str
    unit: str
    """"B", "FLOP", "s"; "" for counts and texts."""
    before: Figure
    after: Figure

    @property
    def is_same(self) -> bool:
        """Whether both are known and equal."""
        return self.before.value is not None and (self.before.value, self.before.text) == (
            self.after.value,
            self.after.text,
        )

    @property
    def difference(self) -> float | None:
        """The second less the first; None unless both are exact numbers."""
        numbers = self._numbers()
        return numbers[1] - numbers[0] if numbers else None

    @property
    def ratio(self) -> float | None:
        """The second over the first; None unless both are exact numbers, and the first is not 0."""
        numbers = self._numbers()
        return numbers[1] / numbers[0] if numbers and numbers[0] else None

    def _numbers(self) -> tuple[float, float] | None:
        before, after = self.before, self.after
        exact = all(is_number(figure.value) and not figure.text for figure in (before, after))
        return (float(before.value or 0), float(after.value or 0)) if exact else None


def paired_figures(before: Program, after: Program) -> list[PairedFigure]:
    """What is compared, in the order in which it is shown: the call, times of stages, sizes and work, options."""
    return [*_calls(before, after), *_times(before, after), *_sizes(before, after), *_options(before, after)]


def _calls(*programs: Program) -> Iterator[PairedFigure]:
    for title, doc, read in (
        ("call", "the function and the types of its arguments", lambda program: public_text(signature(program))),
        ("target", "what it is compiled for", target_title),
    ):
        yield PairedFigure("call", title, doc, "", *(_text(program, title, read) for program in programs))


def _text(program: Program, title: str, read: Callable[[Program], str]) -> Figure:
    parts = Parts()
    text = parts.get(title, lambda: read(program), None)
    return Figure(text, None if text else parts.failures[0])


def _times(*programs: Program) -> Iterator[PairedFigure]:
    names = [one.name for one in stage_list.STAGES if any(program.staged.stage(one.name) for program in programs)]
    for name in names:
        doc = f"seconds of the {name} stage here, by JAX's own event where it has one"
        yield PairedFigure("time", f"{name} time", doc, "s", *(_seconds(program, name) for program in programs))


def _seconds(program: Program, name: str) -> Figure:
    seconds, stage = program.seconds.get(name), program.staged.stage(name)
    if stage is not None and (known := stage_wording.first_time(stage)) is not None:
        return known
    if seconds is not None:
        return Figure(seconds)
    if stage is None:
        return Figure(None, f"inspected with stage={program.stage!r}, which ends before {name}")
    return Figure(None, {stages.DONE: "JAX gives no time"}.get(stage.state, f"the stage is {stage.state}"))


def _sizes(*programs: Program) -> Iterator[PairedFigure]:
    counts = [_counts(program) for program in programs]
    for noun, title in _OPERATIONS.items():
        pair = (count.get(noun, Figure(None, _why_no_count(count))) for count in counts)
        yield PairedFigure("size", title, f"number of {title}, inner ones included", "", *pair)
    figures = [_figures(program) for program in programs]
    for name, column in COLUMNS.items():
        if name == ESTIMATE and all(known[name].value is None for known in figures):
            continue
        if name != "compile":  # it stands among the times
            yield PairedFigure("size", column.title, column.doc, column.unit, *(known[name] for known in figures))
        if name == "memory":
            peaks = (_peak(program) for program in programs)
            yield PairedFigure("size", "peak", "most live bytes at any point of the schedule", "B", *peaks)


def _counts(program: Program) -> Mapping[str, Figure]:
    counted: dict[str, Figure] = {}
    for stage in program.staged.stages:
        if stage.state == stages.DONE and stage.value is not None:
            count = functools.partial(stage_list.definition(stage.name).count, program)
            made: Mapping[str, int] = Parts().get(stage.name, count, {})
            counted |= {noun: Figure(number) for noun, number in made.items()}
    return counted


def _why_no_count(counted: Mapping[str, Figure]) -> str:
    return "its stage did not end" if counted else "nothing was staged here"


def _figures(program: Program) -> Mapping[str, Figure]:
    parts = Parts()
    known = parts.get("The figures", lambda: target_figures(program).figures, None)
    return dict.fromkeys(COLUMNS, Figure(None, parts.failures[0])) if known is None else known


def _peak(program: Program) -> Figure:
    known = memory.known(program)
    if known is None:
        why = _PEAK_UNKNOWN if program.staged.value(COMPILE) is not None else "not compiled"
        return Figure(None, why)
    return Figure(known.spaces[0].peak)


def _options(*programs: Program) -> Iterator[PairedFigure]:
    given = [_given_options(program) for program in programs]
    for name in dict.fromkeys(name for options in given for name in options):
        values = (Figure(str(options[name])) if name in options else _NOT_SET for options in given)
        yield PairedFigure("option", name, "compile option", "", *values)


def _given_options(program: Program) -> Mapping[str, object]:
    empty: Mapping[str, object] = {}
    return Parts().get("The options", lambda: flag_values.shown(options_of(program)), empty)
