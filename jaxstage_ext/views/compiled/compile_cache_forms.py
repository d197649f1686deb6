"""The persistent cache as text and as HTML that runs no code."""

from __future__ import annotations

import textwrap
import time
from html import escape

from jaxstage_ext.compilation.persistent import cache_advice, cache_wording
from jaxstage_ext.compilation.persistent.cache_entries import CacheEntry
from jaxstage_ext.compilation.persistent.cache_report import CacheReport, hit_word, state_word
from jaxstage_ext.report.text.units import duration, plural, scaled
from jaxstage_ext.views.words import clean, cut, width

TEXT_ROWS, HTML_ROWS = 15, 60
NARROWEST, WIDEST = 40, 160
_LARGEST_NAME = 48
_DIM, _WARN = "#71767d", "#a36837"
_CELL = "padding:2px 14px 2px 0; text-align:{}; white-space:nowrap; background:transparent; border:none"
_HEADS = ("program", "size", "written", "compile", "last hit", "state")
_FIGURES = (False, True, False, True, False, False)


def text(report: CacheReport, columns: int = 100) -> str:
    """The folder, what is wrong, what the cache did, and the newest entries, in so many columns."""
    columns = min(max(columns, NARROWEST), WIDEST)
    lines = []
    for said in (cache_wording.headline(report), *map(_marked, cache_wording.warnings(report))):
        lines += textwrap.wrap(clean(said), columns, subsequent_indent="  ")
    for said in _sentences(report):
        lines += textwrap.wrap(clean(said), columns, subsequent_indent="  ")
    for each in cache_advice.advice(report):
        lines += [*textwrap.wrap(each.sentence, columns), textwrap.indent(each.code, "    ")]
    lines += _text_rows(report, columns)
    return "\n".join(lines)


def _sentences(report: CacheReport) -> list[str]:
    causes = cache_wording.causes_words(report.misses()) if report.state.folder else ""
    return [*cache_wording.sentences(report), *([causes] if causes else [])]


def _marked(said: str) -> str:
    return f"! {said}"


def _text_rows(report: CacheReport, columns: int) -> list[str]:
    shown = [_cells(entry) for entry in report.entries[:TEXT_ROWS]]
    if not shown:
        return []
    rows = [_HEADS, *shown]
    widths = [max(width(row[at]) for row in rows) for at in range(len(_HEADS))]
    lines = [
        cut("  ".join(_pad(row[at], widths[at], _FIGURES[at]) for at in range(len(row))).rstrip(), columns)
        for row in rows
    ]
    more = len(report.entries) - len(shown)
    if more:
        lines.append(f"and {plural(more, 'more entry', 'more entries')}; jaxstage_ext.compile_cache().table() has all")
    return lines


def _pad(said: str, size: int, right: bool) -> str:
    room = " " * (size - width(said))
    return room + said if right else said + room


def _cells(entry: CacheEntry) -> tuple[str, ...]:
    seconds = entry.record.seconds if entry.record else None
    return (
        cut(clean(entry.module_name), _LARGEST_NAME),
        scaled(entry.bytes, "B"),
        _date(entry.written),
        "unknown" if seconds is None else duration(seconds),
        hit_word(entry) or "unknown",
        state_word(entry) or "not checked",
    )


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def html(report: CacheReport) -> str:
    """The same without script, style sheet or class."""
    head = f"<b>{escape(clean(cache_wording.headline(report)))}</b>"
    wrong = "".join(
        f'<br><span style="color:{_WARN}">{escape(clean(said))}</span>' for said in cache_wording.warnings(report)
    )
    rest = "".join(f'<br><span style="color:{_DIM}">{escape(clean(said))}</span>' for said in _sentences(report))
    code = "".join(
        f'<p style="margin:4px 0">{escape(each.sentence)}</p>'
        f'<pre style="margin:2px 0 2px 16px">{escape(each.code)}</pre>'
        for each in cache_advice.advice(report)
    )
    return f'<div><p style="margin:4px 0">{head}{wrong}{rest}</p>{code}{_table(report)}</div>'


def _table(report: CacheReport) -> str:
    shown = report.entries[:HTML_ROWS]
    if not shown:
        return ""
    head = "".join(_cell("th", said, figure) for said, figure in zip(_HEADS, _FIGURES, strict=True))
    rows = "".join(f'<tr title="{escape(clean(entry.key))}">{_row(entry)}</tr>' for entry in shown)
    more = len(report.entries) - len(shown)
    rest = f"<p>and {plural(more, 'more entry', 'more entries')}</p>" if more else ""
    return f'<div style="overflow-x:auto"><table><tr>{head}</tr>{rows}</table></div>{rest}'


def _row(entry: CacheEntry) -> str:
    return "".join(_cell("td", said, figure) for said, figure in zip(_cells(entry), _FIGURES, strict=True))


def _cell(tag: str, said: str, is_figure: bool) -> str:
    return f'<{tag} style="{_CELL.format("right" if is_figure else "left")}">{escape(said)}</{tag}>'
