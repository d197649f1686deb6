"""The panel as HTML that runs no code: what a saved notebook holds.

No script, no style sheet, no class: whatever strips styles (GitHub) leaves a
readable text, and a sanitiser leaves it as it is. Colours stand out against
white and against black, since the page's theme is not known.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from pygments import lex
from pygments.token import Comment, Keyword, Name, String

from jaxstage_ext.ir.lexers import LEXERS
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.saved import saved_source
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
from jaxstage_ext.views.words import clean, cut

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
    Keyword.Type: "#2d854b",
    String: "#a36837",
    Comment: "#71767d",
}
_DIM = "#71767d"
_BAD = "#cf4545"
_BOX = "margin:0 0 12px 0; padding:6px 10px; border:1px solid #71767d; border-radius:4px; overflow-wrap:anywhere"
_PRE = "margin:4px 0; padding:0; white-space:pre; overflow-x:auto; line-height:1.4; background:transparent"
_CODE = "padding:0;background:transparent"
_WRAPPED = _PRE.replace("white-space:pre;", "white-space:pre-wrap; word-break:normal; overflow-wrap:anywhere;")
_CELL = "padding:0 16px 0 0;text-align:left;white-space:pre;background:transparent;border:none"


@summarised_once()
def panel_html(programs: Sequence[Program], source: bool | None = None) -> str:
    """All calls as one HTML fragment, under 100 kB whatever they hold; with or without source, None for the default."""
    shown = programs[:_MOST_CALLS]
    more = [cut(clean(summary_of(i)["signature"]), 80) for i in programs[_MOST_CALLS:]]
    rest = ""
    if more:
        named = ", ".join(more[:20]) + (", …" if len(more) > 20 else "")
        rest = f"<p>and {plural(len(more), 'more call')}: {escape(named)}</p>"
    tables = [_table(program) + timeline_forms.html(program, LARGEST // 2 // len(shown), source) for program in shown]
    room = (LARGEST - len((rest + "".join(tables)).encode("utf-8", "replace"))) // max(len(shown), 1)
    return "".join(table + _fitting(program, room, source) for table, program in zip(tables, shown, strict=True)) + rest


def _table(program: Program) -> str:
    """Where a call has several targets, they stand side by side above the first."""
    compare = summary_of(program).get("compare")
    made = (
        comparison_forms.html(compare)
        if compare and "rows" in compare and comparison_forms.has_figures(compare)
        else ""
    )
    return made if len(made.encode("utf-8", "replace")) <= LARGEST // 3 else ""


def _fitting(program: Program, room: int, source: bool | None) -> str:
    if (forms := kernel_forms.forms_of(program)) is not None:
        return forms.html(program)
    summary, html = summary_of(program), ""
    made: excerpt.MadeByLine = Parts().get("What lines became", lambda: excerpt.made_by_line(program), {})
    documents = saved_source.kept(program.readable, source)
    computed = fitting_html(program, room // 2)
    for source_lines, ir_lines in _SIZES:
        body = _body(program, documents, made, source_lines, ir_lines)
        html = f'<div style="{_BOX}">{_head(summary)}{computed}{body}</div>'
        if len(html.encode("utf-8", "replace")) <= room:
            break
    return html


def _head(summary: Summary) -> str:
    parts = [
        f'<b><code style="{_CODE}">{_text(summary["signature"], 1200)}</code></b> {_dim(summary["target"])}',
        " ▸ ".join(_stage(s) for s in summary["stages"]),
        _options(words.options(summary)),
        " ▸ ".join(escape(c) for c in words.counts(summary)),
        " · ".join(_text(words.fact(f), 300) for f in summary["facts"]),
        escape(words.linked(summary)),
        *(_text(note, 500) for note in summary["notes"][:10]),
    ]
    return f'<p style="margin:0">{"<br>".join(part for part in parts if part)}</p>{_error(summary)}'


def _text(text: str, most: int) -> str:
    return escape(cut(clean(text), most))


def _dim(text: str) -> str:
    return f'<span style="color:{_DIM}">{_text(text, 200)}</span>'


def _stage(stage: StageSummary) -> str:
    text = _text(words.stage(stage), 300)
    return f'<b style="color:{_BAD}">{text}</b>' if stage["state"] in ("failed", "interrupted") else text


def _options(options: Sequence[str]) -> str:
    texts = [f'<code style="{_CODE}">{_text(option, 120)}</code>' for option in options[:20]]
    return f"options {' · '.join(texts)}{' · …' if len(options) > 20 else ''}" if texts else ""


def _error(summary: Summary) -> str:
    headline, message = words.error(summary)
    if not headline:
        return ""
    shown = [_text(line, 300) for line in message[:20]] + (["…"] if len(message) > 20 else [])
    body = f'<pre style="{_WRAPPED}">{chr(10).join(shown)}</pre>' if shown else ""
    body += "".join(map(mesh_map.html, summary.get("meshes", [])))
    return f'<p style="margin:4px 0 0 0"><b style="color:{_BAD}">✗ {_text(headline, 300)}</b></p>{body}'


def _body(
    program: Program, documents: Mapping[str, Document], made: excerpt.MadeByLine, source_lines: int, ir_lines: int
) -> str:
    titles, parts = {document["kind"]: document["title"] for document in summary_of(program)["documents"]}, Parts()
    html, authors = "", computed_facts.authors_arguments(program)
    for kind, doc in documents.items():
        if kind == "python" and source_lines and doc.text:
            html += parts.get("The source", functools.partial(_source, program, doc, made, source_lines), "")
        elif kind != "python":
            rows = computed_facts.heaviest_rows(program, ir_lines) if kind == "hlo" and len(doc) > ir_lines else []
            html += parts.get(
                titles[kind], functools.partial(_document, doc, titles[kind], ir_lines, rows, authors), ""
            )
    return html + "".join(f"<p>{_text(failure, 500)}</p>" for failure in parts.failures)


def _source(program: Program, doc: Document, made: excerpt.MadeByLine, most: int) -> str:
    rows = "".join(map(_source_row, excerpt.source(program, doc, most, made)))
    table = f'<div style="overflow-x:auto"><table>{rows}</table></div>'
    return _details("source, and what each line became", table, True)


def _document(doc: Document, name: str, most: int, rows: Sequence[int], authors: Mapping[str, str]) -> str:
    chosen = f"; the {len(rows)} that move the most bytes" if rows else ""
    title = f"{name}, {plural(len(doc), 'line')}{chosen}"
    lines = excerpt.chosen(doc, rows) if rows else excerpt.ir(doc, most) if most else []
    if not lines:
        return f"<p>{title}</p>"
    named = "".join(f"<br>{_dim(argument)}" for argument in excerpt.arguments(doc, lines, authors)).removeprefix("<br>")
    return _details(title, _ir(doc.kind, lines) + (f'<code style="{_CODE}">{named}</code>' if named else ""), False)


def _details(title: str, body: str, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{body}</details>"


def _source_row(line: excerpt.ExcerptLine) -> str:
    if line.skipped:
        return _cells("…", _dim(plural(line.skipped, "more line")), "")
    if not line.number:
        return _cells("", _dim(line.text), "")
    number = f"✗ {line.number}" if line.failed else str(line.number)
    text = cut(line.text, 100)
    code = text.lstrip(" ")
    indent = "&nbsp;" * (len(text) - len(code))
    colour = f";color:{_BAD}" if line.failed else ""
    return _cells(
        number, f'<code style="{_CODE}{colour}">{indent}{escape(code)}</code>', escape(words.became(line.made or {}))
    )


def _cells(number: str, code: str, made: str) -> str:
    shown = (number, code, made) if made else (number, code)
    cells = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in shown)
    return f"<tr>{cells}</tr>"


def _ir(kind: str, lines: Sequence[excerpt.ExcerptLine]) -> str:
    gutter = max((words.width(line.label) for line in lines), default=0)
    digits = max(len(str(line.number)) for line in lines)
    out = []
    for line in lines:
        if line.skipped:
            out.append(_dim(f"{'…':>{digits}} {plural(line.skipped, 'more line')}"))
        else:
            label = line.label + " " * (gutter - words.width(line.label))
            out.append(f"{_dim(f'{line.number:>{digits}} {label}')} {_coloured(kind, cut(line.text, 200))}")
    return f'<pre style="{_PRE}">{chr(10).join(out)}</pre>'


def _coloured(kind: str, text: str) -> str:
    name = KINDS[kind].lexer if kind in KINDS else ""
    if name not in LEXERS:
        return escape(text)
    lexer = LEXERS[name](stripnl=False, ensurenl=False)
    return "".join(_span(token, value) for token, value in lex(text, lexer))


def _span(token: Any, value: str) -> str:
    while token not in _COLOURS and token.parent is not None:
        token = token.parent
    colour = _COLOURS.get(token)
    return f'<span style="color:{colour}">{escape(value)}</span>' if colour else escape(value)
