"""What was computed of a program, as HTML without script or style: answers, tables with bars, a chart of memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.still_table import Face, Head, Picture, Span, StillTable
from jaxstage_ext.report.text.units import share
from jaxstage_ext.views import computed_facts
from jaxstage_ext.views.charts.png import Colour, png
from jaxstage_ext.views.computed_facts import MemoryCurve
from jaxstage_ext.views.layout_picture import layout_map

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

Pixels = npt.NDArray[np.uint8]
_INK: Colour = (59, 127, 196, 255)
_PEAK: Colour = (208, 74, 74, 255)
_CLEAR: Colour = (0, 0, 0, 0)
WIDTH, HEIGHT, BAR_WIDTH, BAR_HEIGHT = 480, 72, 120, 10


def fitting_html(program: Program, room: int) -> Html:
    """What is known of a program in at most `room` bytes: without pictures, and without the last tables, if need be."""
    for with_pictures in (True, False):
        parts = computed_parts(program, with_pictures)
        if sum(map(markup.size, parts)) <= room:
            break
    while parts and sum(map(markup.size, parts)) > room:
        parts.pop()
    return markup.together(parts)


def computed_parts(program: Program, with_pictures: bool = True) -> list[Html]:
    """The findings, the answers, the charts of memory and of layouts that were searched, and each table."""
    findings = (
        markup.lines(
            [
                said(text, face=Face.STRONG if at == 0 else Face.TEXT, most=600),
                *(said(line, face=Face.CODE, most=600) for line in code),
            ]
        )
        for at, (text, *code) in enumerate(computed_facts.findings(program))
    )
    answers = (
        markup.together((said(asked), said(text, face=Face.STRONG, most=600)), " ")
        for asked, text in computed_facts.answers(program)
    )
    curve = computed_facts.memory_curve(program)
    chart = _chart(curve) if curve is not None and with_pictures else markup.NOTHING
    searched = computed_facts.layouts(program)
    layouts = layout_map(*searched) if searched is not None and with_pictures else markup.NOTHING
    tables = computed_facts.tables(program)
    return [
        markup.items(findings),
        markup.items(answers),
        chart,
        markup.items(said(text, face=Face.STRONG, most=600) for text in computed_facts.said_of_layouts(program)),
        layouts,
        *(markup.titled(_with_bars(one) if with_pictures else one) for one in tables),
    ]


def _with_bars(table: StillTable) -> StillTable:
    if not table.shares:
        return table
    rows = tuple((*row, _bar(part)) for row, part in zip(table.rows, table.shares, strict=True))
    return replace(table, heads=(*table.heads, Head("of all bytes")), rows=rows)


def _bar(part: float) -> Span:
    """A bar as long as the share, with the share in words beside it."""
    length = max(1, round(part * BAR_WIDTH))
    return Span(share(part), picture=_picture(np.ones((BAR_HEIGHT, length), np.uint8)))


def _chart(curve: MemoryCurve) -> Html:
    """The curve as an area, the peak as a line through its height; its figures stand below."""
    return markup.paragraph(markup.picture(_picture(_area(curve), curve.text)), said(curve.text))


def _area(curve: MemoryCurve) -> Pixels:
    """Columns of pixels as high as the most bytes that are live in their part of the schedule."""
    starts = np.linspace(0, len(curve.live), WIDTH, endpoint=False).astype(np.int64)
    most: Any = np.maximum.reduceat(curve.live, starts)
    filled: npt.NDArray[np.float64] = np.round(most / max(int(np.max(curve.live)), 1) * HEIGHT)
    heights: npt.NDArray[np.int64] = np.arange(HEIGHT, 0, -1).reshape(-1, 1)
    pixels: Pixels = (heights <= filled.reshape(1, -1)).astype(np.uint8)
    peak = int(np.searchsorted(starts, min(curve.position, len(curve.live) - 1), side="right")) - 1
    pixels[:, peak] = 2
    return pixels


def _picture(pixels: Pixels, alt: str = "") -> Picture:
    height, width = pixels.shape
    return Picture(png(pixels, (_CLEAR, _INK, _PEAK)), width, height, alt)
