"""A history as text and as HTML that runs no code."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.still_table import Cell, Colour, Face, Head, Span, StillTable
from jaxstage_ext.report.text.terminal import cut, width
from jaxstage_ext.report.text.units import plural
from jaxstage_ext.views.compiled.compile_lines import CompileLine, compile_line, headline, stages_text

NARROWEST, WIDEST = 40, 160
TEXT_ROWS, HTML_ROWS = 40, 60
_LARGEST_HTML = 90_000
_SIZES = (6, 24, 44, 8)
"""Columns that the number, the line, the function and the time have at most."""
_LEAST_WHY = 30
"""Columns that the cause needs to stand beside the rest."""
_MOST_SHARE, _INDENT = 36, 4
"""Of the width, in percent, that one of those takes at most; of what stands below a row."""
_HEADS = (
    Head("#", True),
    Head("line"),
    Head("function", least=8, most=22),
    Head("trace", True),
    Head("lower", True),
    Head("compile", True),
    Head("why, and what to do", least=20),
)
EMPTY = "Nothing was traced, lowered or compiled."


def text(history: History, columns: int = 100, title: str = "", notes: Sequence[str] = ()) -> str:
    """The totals, the newest rows with why and what to do, and notes, in so many columns."""
    columns = min(max(columns, NARROWEST), WIDEST)
    rows = history.rows()
    shown = [compile_line(history, row) for row in rows[-TEXT_ROWS:]]
    head = _head(history, title)
    lines = [part for sentence in head for part in _wrapped(sentence, columns, "")]
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


def html(history: History, title: str = "", notes: Sequence[str] = ()) -> Html:
    """A table without script, style sheet or class, of some 90 kB at most; its newest rows."""
    rows = history.rows()
    below = [markup.paragraph(said(note, Colour.WARN, most=600)) for note in notes]
    cells = _fitting([_cells(compile_line(history, row)) for row in rows[-HTML_ROWS:]], sum(map(markup.size, below)))
    first, *more = _head(history, title)
    head = [said(first, face=Face.STRONG, most=400), *(said(line, Colour.DIM, most=400) for line in more)]
    if left_out := len(rows) - len(cells):
        where = f"{plural(left_out, 'earlier row')} not shown; "
        head.append(markup.together((said(where), said("jaxstage_ext.compiles()", face=Face.CODE))))
    return markup.together((markup.paragraph(*head), markup.table(StillTable(_HEADS, tuple(cells))), *below))


def _fitting(rows: Sequence[tuple[Cell, ...]], used: int) -> list[tuple[Cell, ...]]:
    """The newest rows for which there is room."""
    fitting: list[tuple[Cell, ...]] = []
    for row in reversed(rows):
        used += markup.size(markup.table(StillTable((), (row,))))
        if used > _LARGEST_HTML:
            break
        fitting.insert(0, row)
    return fitting


def _cells(line: CompileLine) -> tuple[Cell, ...]:
    function = Span(cut(line.function, 80), face=Face.STRONG)
    signature = Span(cut(line.signature, 160), Colour.DIM, Face.CODE)
    return (
        line.number,
        cut(line.line, 60),
        (function, signature) if line.signature else function,
        *line.stages,
        tuple(_why(line)),
    )


def _why(line: CompileLine) -> Iterator[Span]:
    yield Span(cut(line.why, 400), Colour.BAD if line.is_failed else Colour.WARN if line.is_mendable else Colour.NONE)
    if line.caches:
        yield Span(cut(line.caches, 200), Colour.DIM)
    if line.advice:
        yield Span(cut(line.advice, 400))
    if line.code:
        yield Span("\n".join(cut(part, 200) for part in line.code), face=Face.BLOCK)
