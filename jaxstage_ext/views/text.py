"""The panel as text: for terminals, `repr` and text/plain."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from jaxstage_ext.report.saved import saved_source
from jaxstage_ext.report.text import still_table
from jaxstage_ext.report.text.terminal import clean, cut, width
from jaxstage_ext.report.text.units import plural
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views import (
    comparison_forms,
    computed_facts,
    excerpt,
    kernel_forms,
    mesh_map,
    timeline_forms,
    words,
)
from jaxstage_ext.views.summaries import summarised_once, summary_of

if TYPE_CHECKING:
    from jaxstage_ext.program.head.summary_form import Summary
    from jaxstage_ext.program.program import Program
    from jaxstage_ext.report.document import Document

NARROWEST, WIDEST = 48, 160
_SOURCE_LINES, _IR_LINES, _ERROR_LINES, _TABLE_ROWS = 30, 8, 12, 6
_MOST_CALLS = 4
_FACT, _NOTE, _PARAGRAPH = 300, 500, 1000
"""The most columns of one fact or option, of one note, and of one answer or line of an error."""
_MOST_NOTES, _MOST_OPTIONS = 10, 20


@summarised_once()
def panel_text(programs: Sequence[Program], width: int = 100, source: bool | None = None) -> str:
    """All calls as boxes of text, `width` columns wide; with or without source, None for the default."""
    width = min(max(width, NARROWEST), WIDEST)
    shown = programs[:_MOST_CALLS]
    boxes = [part for program in shown for part in _parts(program, width, source)]
    more = [clean(summary_of(i)["signature"]) for i in programs[_MOST_CALLS:]]
    if more:
        boxes.append(cut(f"and {plural(len(more), 'more call')}: {', '.join(more)}", width))
    return "\n".join(boxes)


def _parts(program: Program, columns: int, source: bool | None) -> Iterator[str]:
    """The table of a call's targets and its box; of a view of the kernel its own text."""
    if (forms := kernel_forms.forms_of(program)) is not None:
        yield forms.text(program, columns)
        return
    yield from _table(program, columns)
    yield _box(program, columns, source)


def _table(program: Program, columns: int) -> Iterator[str]:
    """Where a call has several targets, they stand side by side above the first."""
    compare = summary_of(program).get("compare")
    if compare and "rows" in compare and comparison_forms.has_figures(compare):
        yield comparison_forms.text(compare, columns)


def _box(program: Program, columns: int, source: bool | None) -> str:
    summary, inner = summary_of(program), columns - 4
    out = [*_head(summary, columns)]
    out += [_row(line, inner) for line in _facts(summary, inner)]
    for title, lines in _sections(program, summary, inner, source):
        out.append(_rule("├", title, "┤", columns))
        out += [_row(line, inner) for line in lines]
    return "\n".join([*out, _rule("└", "", "┘", columns)])


def _row(line: str, inner: int) -> str:
    line = cut(line, inner)
    return f"│ {line}{' ' * (inner - width(line))} │"


def _rule(left: str, title: str, right: str, columns: int) -> str:
    title = f" {cut(title, columns - 6)} " if title else ""
    return f"{left}{title}{'─' * (columns - 2 - width(title))}{right}"


def _head(summary: Summary, columns: int) -> Iterator[str]:
    signature, target = clean(summary["signature"][:4000]), cut(clean(summary["target"]), columns // 2)
    room = columns - 6 - width(target)
    if width(signature) <= room:
        yield f"┌ {signature}{' ' * (room - width(signature))}  {target} ┐"
        return
    yield f"┌{'─' * (columns - 4 - width(target))} {target} ┐"
    for line in textwrap.wrap(signature, columns - 4, subsequent_indent="    ", max_lines=6, placeholder=" …"):
        yield _row(line, columns - 4)


def _facts(summary: Summary, inner: int) -> Iterator[str]:
    yield from _packed([words.stage(s) for s in summary["stages"]], " ▸ ", inner)
    if options := words.options(summary):
        more = ["…"] if len(options) > _MOST_OPTIONS else []
        yield from _packed([f"options {options[0]}", *options[1:_MOST_OPTIONS], *more], " · ", inner)
    yield from _packed([*words.counts(summary)], " ▸ ", inner)
    yield from _packed([words.fact(f) for f in summary["facts"]], " · ", inner)
    yield from _packed([words.linked(summary)], "", inner)
    for note in summary["notes"][:_MOST_NOTES]:
        yield from textwrap.wrap(cut(clean(note), _NOTE), inner)


def _packed(parts: list[str], between: str, inner: int) -> Iterator[str]:
    """The parts on as few lines as they fit on."""
    line = ""
    for part in (cut(part, _FACT) for part in parts):
        longer = f"{line}{between}{part}" if line else part
        if line and width(longer) > inner:
            yield line
            longer = part
        line = longer
    if line:
        yield from textwrap.wrap(line, inner, subsequent_indent="  ")


def _sections(program: Program, summary: Summary, inner: int, source: bool | None) -> Iterator[tuple[str, list[str]]]:
    headline, message = words.error(summary)
    if headline:
        shown = message[:_ERROR_LINES] + (["…"] if len(message) > _ERROR_LINES else [])
        yield headline, [part for line in shown for part in textwrap.wrap(cut(line, _PARAGRAPH), inner) or [""]]
    if found := computed_facts.findings(program):
        yield "findings", [line for sentence, *code in found for line in _finding(sentence, code, inner)]
    if answered := computed_facts.answers(program):
        said = [cut(f"{asked} {clean(text)}", _PARAGRAPH) for asked, text in answered]
        yield "answers", [line for text in said for line in textwrap.wrap(text, inner, subsequent_indent="  ")]
    if layouts := computed_facts.said_of_layouts(program):
        yield "which sharding", [line for said in layouts for line in textwrap.wrap(cut(said, _PARAGRAPH), inner)]
    for table in computed_facts.tables(program):
        yield table.title, still_table.lines(table.first(_TABLE_ROWS))
    if ran := timeline_forms.text(program, inner, source):
        yield "timeline", ran
    for sheet in summary.get("meshes", []):
        title, *lines = mesh_map.text(sheet)
        yield title, lines
    documents = saved_source.kept(program.readable, source)
    titles = {document["kind"]: document["title"] for document in summary["documents"]}
    if "python" in documents and (python := documents["python"]).text:
        yield "source", _or_why("The source", lambda: _source_excerpt(program, python, inner))
    for kind, doc in documents.items():
        if kind != "python":
            lines = _or_why(titles[kind], functools.partial(_excerpt_lines, program, doc, inner))
            yield f"{titles[kind]}, {plural(len(doc), 'line')}", lines


def _finding(sentence: str, code: Sequence[str], inner: int) -> Iterator[str]:
    yield from textwrap.wrap(cut(sentence, _PARAGRAPH), inner, subsequent_indent="  ")
    for line in code:
        yield from textwrap.wrap(cut(f"    {line}", _PARAGRAPH), inner, subsequent_indent="        ")


def _source_excerpt(program: Program, doc: Document, inner: int) -> list[str]:
    return _source_lines(excerpt.source(program, doc, _SOURCE_LINES), inner)


def _excerpt_lines(program: Program, doc: Document, inner: int) -> list[str]:
    lines = excerpt.ir(doc, _IR_LINES)
    arguments = excerpt.arguments(doc, lines, computed_facts.authors_arguments(program))
    named = [textwrap.wrap(line, inner, subsequent_indent="  ") for line in arguments]
    return [*_ir_lines(lines, inner), *(part for parts in named for part in parts)]


def _or_why(title: str, lines: Callable[[], list[str]]) -> list[str]:
    """The lines of one part of a box, or why there are none."""
    parts = Parts()
    return parts.get(title, lines, []) or parts.failures


def _source_lines(lines: Sequence[excerpt.ExcerptLine], inner: int) -> list[str]:
    digits = max((len(str(line.number)) for line in lines), default=1)
    out = []
    for line in lines:
        if line.skipped:
            out.append(f"{'…':>{digits}}   {plural(line.skipped, 'more line')}")
        elif not line.number:
            out.append(line.text)
        else:
            mark = "✗" if line.failed else " "
            out.append(_beside(f"{line.number:>{digits}} {mark} {line.text}", _arrow(line), inner))
    return out


def _arrow(line: excerpt.ExcerptLine) -> str:
    made = words.became(line.made or {})
    return f"-> {made}" if made else ""


def _ir_lines(lines: Sequence[excerpt.ExcerptLine], inner: int) -> list[str]:
    return [
        f"…   {plural(line.skipped, 'more line')}" if line.skipped else _beside(line.text, line.label, inner)
        for line in lines
    ]


def _beside(left: str, right: str, inner: int) -> str:
    if not right:
        return cut(left, inner)
    right = cut(right, inner * 2 // 3)
    left = cut(left, inner - width(right) - 2)
    return f"{left}{' ' * (inner - width(left) - width(right))}{right}"
