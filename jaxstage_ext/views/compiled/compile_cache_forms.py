"""The persistent cache as text and as HTML that runs no code."""

from __future__ import annotations

import textwrap
import time
from dataclasses import replace

from jaxstage_ext.compilation.persistent import cache_advice, cache_wording
from jaxstage_ext.compilation.persistent.cache_entries import CacheEntry
from jaxstage_ext.compilation.persistent.cache_report import CacheReport, hit_word, state_word
from jaxstage_ext.report.text import markup, still_table
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.still_table import Cell, Colour, Face, Head, Span, StillTable
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.report.text.units import duration, scaled

TEXT_ROWS, HTML_ROWS = 15, 60
NARROWEST, WIDEST = 40, 160
_LARGEST_NAME = 48
_HEADS = (Head("program"), Head("size", True), Head("written"), Head("compile", True), Head("last hit"), Head("state"))


def text(report: CacheReport, columns: int = 100) -> str:
    """The folder, what is wrong, what the cache did, and the newest entries, in so many columns."""
    columns = min(max(columns, NARROWEST), WIDEST)
    lines = []
    for sentence in (cache_wording.headline(report), *map(_marked, cache_wording.warnings(report))):
        lines += textwrap.wrap(
            clean(sentence), columns, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
        )
    for sentence in _sentences(report):
        lines += textwrap.wrap(clean(sentence), columns, subsequent_indent="  ")
    for each in cache_advice.advice(report):
        lines += [*textwrap.wrap(each.sentence, columns), textwrap.indent(each.code, "    ")]
    lines += _text_rows(report, columns)
    return "\n".join(lines)


def _sentences(report: CacheReport) -> list[str]:
    causes = cache_wording.causes_words(report.misses()) if report.state.folder else ""
    return [*cache_wording.sentences(report), *([causes] if causes else [])]


def _marked(warning: str) -> str:
    return f"! {warning}"


def _table(report: CacheReport, most: int) -> StillTable:
    shown, noun = report.entries[:most], ("more entry", "more entries")
    return StillTable(_HEADS, tuple(map(_cells, shown)), left_out=len(report.entries) - len(shown), noun=noun)


def _text_rows(report: CacheReport, columns: int) -> list[str]:
    if not report.entries:
        return []
    table = _table(report, TEXT_ROWS)
    lines = [cut(line, columns) for line in still_table.lines(replace(table, left_out=0))]
    return lines + ([f"{table.more}; jaxstage_ext.compile_cache().table() has all"] if table.more else [])


def _cells(entry: CacheEntry) -> tuple[Cell, ...]:
    seconds = entry.record.seconds if entry.record else None
    return (
        Span(cut(clean(entry.module_name), _LARGEST_NAME), hint=entry.key),
        scaled(entry.bytes, "B"),
        _date(entry.written),
        "unknown" if seconds is None else duration(seconds),
        hit_word(entry) or "unknown",
        state_word(entry) or "not checked",
    )


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def html(report: CacheReport) -> Html:
    """The same without script, style sheet or class."""
    head = [said(cache_wording.headline(report), face=Face.STRONG)]
    head += [said(warning, Colour.WARN) for warning in cache_wording.warnings(report)]
    head += [said(sentence, Colour.DIM) for sentence in _sentences(report)]
    advice = (
        part
        for each in cache_advice.advice(report)
        for part in (markup.paragraph(said(each.sentence)), markup.block(map(said, each.code.split("\n"))))
    )
    return markup.together((markup.paragraph(*head), *advice, markup.table(_table(report, HTML_ROWS))))
