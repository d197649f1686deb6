"""A history as text and as HTML that runs no code."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape

from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.report.text.units import plural
from jaxstage_ext.views.compiled.compile_lines import CompileLine, compile_line, headline, stages_text
from jaxstage_ext.views.words import cut, width

NARROWEST, WIDEST = 40, 160
TEXT_ROWS, HTML_ROWS = 40, 60
_LARGEST_HTML = 90_000
_SIZES = (6, 24, 44, 8)
"""Columns that the number, the line, the function and the time have at most."""
_LEAST_WHY = 30
"""Columns that the cause needs to stand beside the rest."""
_MOST_SHARE, _INDENT = 36, 4
"""Of the width, in percent, that one of those takes at most; of what stands below a row."""
_DIM, _WARN, _BAD = "#71767d", "#a36837", "#cf4545"
_CELL = (
    "padding:2px 14px 2px 0; text-align:{align}; vertical-align:top; white-space:{wrap}; background:transparent; "
    "border:none"
)
EMPTY = "Nothing was traced, lowered or compiled."


def text(history: History, columns: int = 100, title: str = "", notes: Sequence[str] = ()) -> str:
    """The totals, the newest rows with why and what to do, and notes, in so many columns."""
    columns = min(max(columns, NARROWEST), WIDEST)
    rows = history.rows()
    shown = [compile_line(history, row) for row in rows[-TEXT_ROWS:]]
    head = _head(history, title)
    lines = [part for said in head for part in _wrapped(said, columns, "")]
    if len(rows) > len(shown):
        lines.append(f"{plural(len(rows) - len(shown), 'earlier row')} not shown; jaxstage_ext.compiles() has all")
    lines += _text_rows(shown, columns)
    for note in notes:
        lines += _wrapped(note, columns, "")
    return "\n".join(lines)


def _head(history: History, title: str) -> list[str]:
    first, *more = headline(history) if history.records else [EMPTY]
    return [f"{title}: {first}" if title else first, *more]


def _text_rows(lines: Sequence[CompileLine], columns: int) -> Iterator[str]:
    heads = [(f"#{line.number}", line.line, _called(line), line.seconds) for line in lines]
    most = [min(size, _MOST_SHARE * columns // 100) for size in _SIZES]
    sizes = [min(max((width(head[at]) for head in heads), default=0), most[at]) for at in range(len(_SIZES))]
    used = sum(sizes) + 2 * len(sizes)
    beside = columns - used >= _LEAST_WHY
    for head, line in zip(heads, lines, strict=True):
        is_long = width(head[2]) > sizes[2]
        shown = (*head[:2], f"{line.function}(…)", head[3]) if is_long and line.signature else head
        cells = [cut(said, size) for said, size in zip(shown, sizes, strict=True)]
        padded = [
            _pad(cell, size, right=at in (0, 3)) for at, (cell, size) in enumerate(zip(cells, sizes, strict=True))
        ]
        first = "  ".join(padded)
        room, indent = (columns - used, " " * used) if beside else (columns - _INDENT, " " * _INDENT)
        why = _wrapped(line.why, room, "")
        if beside and why:
            first, why = f"{first}  {why[0]}", why[1:]
        yield cut(first.rstrip(), columns)
        yield from (f"{indent}{part}" for part in why)
        if is_long and line.signature:
            yield from (" " * _INDENT + part for part in _wrapped(_called(line), columns - _INDENT, "  "))
        yield from (" " * _INDENT + part for part in _below(line, columns - _INDENT))


def _below(line: CompileLine, room: int) -> Iterator[str]:
    """The stages, and what to do; a line of code is never cut."""
    yield from _wrapped(stages_text(line), room, "")
    yield from _wrapped(f"→ {line.advice}" if line.advice else "", room, "  ")
    yield from (f"    {code}" for code in line.code)


def _wrapped(said: str, columns: int, indent: str) -> list[str]:
    return [cut(part, columns) for part in textwrap.wrap(said, columns, subsequent_indent=indent)]


def _called(line: CompileLine) -> str:
    return f"{line.function}({line.signature})" if line.signature else line.function


def _pad(said: str, size: int, right: bool) -> str:
    room = " " * (size - width(said))
    return room + said if right else said + room


def html(history: History, title: str = "", notes: Sequence[str] = ()) -> str:
    """A table without script, style sheet or class, of some 90 kB at most; its newest rows."""
    rows = history.rows()
    head = [escape(cut(said, 400)) for said in _head(history, title)]
    told = "".join(f'<p style="margin:4px 0; color:{_WARN}">{escape(cut(note, 600))}</p>' for note in notes)
    shown = _fitting([f"<tr>{_row(compile_line(history, row))}</tr>" for row in rows[-HTML_ROWS:]], len(told))
    if len(rows) > len(shown):
        head.append(f"{plural(len(rows) - len(shown), 'earlier row')} not shown; <code>jaxstage_ext.compiles()</code>")
    lines = f"<b>{head[0]}</b>" + "".join(f'<br><span style="color:{_DIM}">{said}</span>' for said in head[1:])
    return f'<div><p style="margin:4px 0">{lines}</p>{_table(shown) if shown else ""}{told}</div>'


def _fitting(rows: Sequence[str], used: int) -> list[str]:
    """The newest rows for which there is room."""
    fitting: list[str] = []
    for row in reversed(rows):
        used += len(row.encode("utf-8", "replace"))
        if used > _LARGEST_HTML:
            break
        fitting.insert(0, row)
    return fitting


_HEADS = (
    ("#", "right"),
    ("line", "left"),
    ("function", "left"),
    ("trace", "right"),
    ("lower", "right"),
    ("compile", "right"),
    ("why, and what to do", "left"),
)


def _table(rows: Sequence[str]) -> str:
    head = "".join(f'<th style="{_CELL.format(align=align, wrap="nowrap")}">{title}</th>' for title, align in _HEADS)
    inner = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div style="overflow-x:auto"><table style="color:inherit">{inner}</table></div>'


def _row(line: CompileLine) -> str:
    function = f"<b>{escape(cut(line.function, 80))}</b>"
    if line.signature:
        function += f'<br><code style="color:{_DIM}; background:transparent">{escape(cut(line.signature, 160))}</code>'
    return "".join(
        [
            _td(escape(line.number), "right"),
            _td(escape(cut(line.line, 60)), "left"),
            _td(function, "left", wrap="normal; overflow-wrap:anywhere; min-width:8em; max-width:22em"),
            *(_td(escape(stage), "right") for stage in line.stages),
            _td(_why(line), "left", wrap="normal; min-width:20em"),
        ]
    )


def _why(line: CompileLine) -> str:
    colour = _BAD if line.is_failed else _WARN if line.is_mendable else ""
    why = escape(cut(line.why, 400))
    parts = [f'<span style="color:{colour}">{why}</span>' if colour else why]
    if line.caches:
        parts.append(f'<br><span style="color:{_DIM}">{escape(cut(line.caches, 200))}</span>')
    if line.advice:
        parts.append(f"<br>{escape(cut(line.advice, 400))}")
    if line.code:
        code = escape("\n".join(cut(part, 200) for part in line.code))
        parts.append(f'<pre style="margin:2px 0; background:transparent; font-family:monospace">{code}</pre>')
    return "".join(parts)


def _td(inner: str, align: str, wrap: str = "nowrap") -> str:
    return f'<td style="{_CELL.format(align=align, wrap=wrap)}">{inner}</td>'
