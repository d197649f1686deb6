"""The panel as HTML that runs no code: what a saved notebook holds."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pygments import lex
from pygments.token import Comment, Keyword, Name, String

from jaxstage_ext.ir.lexers import LEXERS
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.saved import saved_source
from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.still_table import Cell, Colour, Face, Span, StillTable
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
from jaxstage_ext.views.computed_html import fitting_html
from jaxstage_ext.views.summaries import summarised_once, summary_of

if TYPE_CHECKING:
    from jaxstage_ext.program.head.summary_form import StageSummary, Summary
    from jaxstage_ext.program.program import Program
    from jaxstage_ext.report.document import Document

LARGEST = 96_000
"""Bytes of UTF-8 that `panel_html` stays under."""
_MOST_CALLS = 6
_SIZES = ((60, 40), (40, 24), (24, 10), (10, 4), (4, 0), (0, 0))
"""Lines of source and of each other document, tried until the result fits."""
_COLOURS = {
    Name.Function: "#3878ba",
    Keyword: "#875fd1",
    Keyword.Type: Colour.GOOD,
    String: Colour.WARN,
    Comment: Colour.DIM,
}


@summarised_once()
def panel_html(programs: Sequence[Program], source: bool | None = None) -> Html:
    """All calls as one HTML fragment, under 100 kB whatever they hold; with or without source, None for the default."""
    shown = programs[:_MOST_CALLS]
    more = [cut(clean(summary_of(i)["signature"]), 80) for i in programs[_MOST_CALLS:]]
    named = ", ".join(more[:20]) + (", …" if len(more) > 20 else "")
    rest = markup.paragraph(said(f"and {plural(len(more), 'more call')}: {named}")) if more else markup.NOTHING
    tables = [
        markup.together((_table(program), timeline_forms.html(program, LARGEST // 2 // len(shown), source)))
        for program in shown
    ]
    room = (LARGEST - sum(map(markup.size, (rest, *tables)))) // max(len(shown), 1)
    boxes = (_fitting(program, room, source) for program in shown)
    return markup.together([*(part for pair in zip(tables, boxes, strict=True) for part in pair), rest])


def _table(program: Program) -> Html:
    """Where a call has several targets, they stand side by side above the first."""
    compare = summary_of(program).get("compare")
    has_figures = compare and "rows" in compare and comparison_forms.has_figures(compare)
    made = comparison_forms.html(compare) if compare and has_figures else markup.NOTHING
    return made if markup.size(made) <= LARGEST // 3 else markup.NOTHING


def _fitting(program: Program, room: int, source: bool | None) -> Html:
    if (forms := kernel_forms.forms_of(program)) is not None:
        return forms.html(program)
    summary, html = summary_of(program), markup.NOTHING
    made: excerpt.MadeByLine = Parts().get("What lines became", lambda: excerpt.made_by_line(program), {})
    documents = saved_source.kept(program.readable, source)
    computed = fitting_html(program, room // 2)
    for source_lines, ir_lines in _SIZES:
        html = markup.box(_head(summary), computed, _body(program, documents, made, source_lines, ir_lines))
        if markup.size(html) <= room:
            break
    return html


def _head(summary: Summary) -> Html:
    head = (
        markup.together((_call(summary["signature"]), markup.dim(summary["target"])), " "),
        markup.together(map(_stage, summary["stages"]), " ▸ "),
        _options(words.options(summary)),
        said(" ▸ ".join(words.counts(summary))),
        markup.together((said(words.fact(fact), most=300) for fact in summary["facts"]), " · "),
        said(words.linked(summary)),
        *(said(note, most=500) for note in summary["notes"][:10]),
    )
    return markup.together((markup.paragraph(*head), *_error(summary)))


def _call(signature: str) -> Html:
    return markup.strong(said(signature, face=Face.CODE, most=1200))


def _stage(stage: StageSummary) -> Html:
    is_bad = stage["state"] in ("failed", "interrupted")
    return said(words.stage(stage), Colour.BAD if is_bad else "", Face.STRONG if is_bad else Face.TEXT, 300)


def _options(options: Sequence[str]) -> Html:
    texts = [said(option, face=Face.CODE, most=120) for option in options[:20]]
    more = [said("…")] if len(options) > len(texts) else []
    return markup.together((said("options"), markup.together([*texts, *more], " · ")), " ") if texts else markup.NOTHING


def _error(summary: Summary) -> Iterator[Html]:
    headline, message = words.error(summary)
    if headline:
        yield markup.paragraph(said(f"✗ {headline}", Colour.BAD, Face.STRONG, 300))
        if message:
            more = ["…"] if len(message) > 20 else []
            yield markup.block((said(line, most=300) for line in [*message[:20], *more]), wraps=True)
        yield from map(mesh_map.html, summary.get("meshes", []))


def _body(
    program: Program, documents: Mapping[str, Document], made: excerpt.MadeByLine, source_lines: int, ir_lines: int
) -> Html:
    titles, parts = {document["kind"]: document["title"] for document in summary_of(program)["documents"]}, Parts()
    html, authors = list[Html](), computed_facts.authors_arguments(program)
    for kind, doc in documents.items():
        if kind == "python" and source_lines and doc.text:
            made_of = functools.partial(_source, program, doc, made, source_lines)
            html.append(parts.get("The source", made_of, markup.NOTHING))
        elif kind != "python":
            rows = computed_facts.heaviest_rows(program, ir_lines) if kind == "hlo" and len(doc) > ir_lines else []
            made_of = functools.partial(_document, doc, titles[kind], ir_lines, rows, authors)
            html.append(parts.get(titles[kind], made_of, markup.NOTHING))
    return markup.together([*html, *(markup.paragraph(said(failure, most=500)) for failure in parts.failures)])


def _source(program: Program, doc: Document, made: excerpt.MadeByLine, most: int) -> Html:
    rows = tuple(map(_source_row, excerpt.source(program, doc, most, made)))
    return markup.titled(StillTable((), rows, "source, and what each line became", is_open=True))


def _document(doc: Document, name: str, most: int, rows: Sequence[int], authors: Mapping[str, str]) -> Html:
    chosen = f"; the {len(rows)} that move the most bytes" if rows else ""
    title = f"{name}, {plural(len(doc), 'line')}{chosen}"
    lines = excerpt.chosen(doc, rows) if rows else excerpt.ir(doc, most) if most else []
    if not lines:
        return markup.paragraph(said(title))
    named = markup.lines(map(markup.dim, excerpt.arguments(doc, lines, authors)))
    return markup.details(title, markup.together((_ir(doc.kind, lines), named)))


def _source_row(line: excerpt.ExcerptLine) -> tuple[Cell, ...]:
    if line.skipped:
        return "…", Span(plural(line.skipped, "more line"), Colour.DIM), ""
    if not line.number:
        return "", Span(line.text, Colour.DIM), ""
    number = f"✗ {line.number}" if line.failed else str(line.number)
    code = Span(cut(line.text, 100), Colour.BAD if line.failed else "", Face.CODE)
    return number, code, words.became(line.made or {})


def _ir(kind: str, lines: Sequence[excerpt.ExcerptLine]) -> Html:
    gutter = max((width(line.label) for line in lines), default=0)
    digits = max(len(str(line.number)) for line in lines)
    out = []
    for line in lines:
        if line.skipped:
            out.append(markup.dim(f"{'…':>{digits}} {plural(line.skipped, 'more line')}"))
        else:
            label = line.label + " " * (gutter - width(line.label))
            place = markup.dim(f"{line.number:>{digits}} {label}")
            out.append(markup.together((place, _coloured(kind, cut(line.text, 200))), " "))
    return markup.block(out)


def _coloured(kind: str, text: str) -> Html:
    name = KINDS[kind].lexer if kind in KINDS else ""
    if name not in LEXERS:
        return said(text)
    lexer = LEXERS[name](stripnl=False, ensurenl=False)
    return markup.together(said(value, _colour(token)) for token, value in lex(text, lexer))


def _colour(token: Any) -> str:
    while token not in _COLOURS and token.parent is not None:
        token = token.parent
    return _COLOURS.get(token, "")
