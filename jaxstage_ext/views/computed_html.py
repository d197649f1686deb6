"""What was computed of a program, as HTML without script or style: answers, tables with bars, a chart of memory."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.text.units import plural, share
from jaxstage_ext.views import computed_facts
from jaxstage_ext.views.charts.png import Colour, png
from jaxstage_ext.views.computed_facts import MemoryCurve, ShownRows
from jaxstage_ext.views.words import clean, cut

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

Pixels = npt.NDArray[np.uint8]
_CELL = "padding:0 14px 0 0;text-align:{};white-space:nowrap;background:none;border:none"
_CODE = "font-family:monospace;font-size:.92em"
_INK: Colour = (59, 127, 196, 255)
_PEAK: Colour = (208, 74, 74, 255)
_CLEAR: Colour = (0, 0, 0, 0)
WIDTH, HEIGHT, BAR_WIDTH, BAR_HEIGHT = 480, 72, 120, 10


def fitting_html(program: Program, room: int) -> str:
    """What is known of a program in at most `room` bytes: without pictures, and without the last tables, if need be."""
    for with_pictures in (True, False):
        parts = computed_parts(program, with_pictures)
        if _size(parts) <= room:
            break
    while parts and _size(parts) > room:
        parts.pop()
    return "".join(parts)


def _size(parts: list[str]) -> int:
    return sum(len(part.encode("utf-8", "replace")) for part in parts)


def computed_html(program: Program, with_pictures: bool = True) -> str:
    """What is known of a program; "" where nothing is."""
    return "".join(computed_parts(program, with_pictures))


def computed_parts(program: Program, with_pictures: bool) -> list[str]:
    """The answers, the chart of memory, and each table."""
    rows = "".join(
        f"<li>{escape(asked)} <b>{escape(cut(clean(text), 600))}</b></li>"
        for asked, text in computed_facts.answers(program)
    )
    listed = f'<ul style="margin:4px 0">{rows}</ul>' if rows else ""
    curve = computed_facts.memory_curve(program)
    chart = _chart(curve) if curve is not None and with_pictures else ""
    tables = [_table(shown, with_pictures) for shown in computed_facts.tables(program)]
    return [listed, chart, *tables]


def _table(shown: ShownRows, with_pictures: bool) -> str:
    has_bars = with_pictures and bool(shown.shares)
    titles = [*zip(shown.titles, shown.figures, strict=True), *([("of all bytes", False)] if has_bars else [])]
    head = "".join(f'<th style="{_CELL.format(_align(figure))}">{escape(said)}</th>' for said, figure in titles)
    body = ""
    for at, row in enumerate(shown.rows):
        cells = "".join(_td(said, figure) for said, figure in zip(row, shown.figures, strict=True))
        bar = f'<td style="{_CELL.format("left")}">{_bar(shown.shares[at])}</td>' if has_bars else ""
        body += f"<tr>{cells}{bar}</tr>"
    more = f"<p>and {plural(shown.more, 'more row')}</p>" if shown.more else ""
    table = f'<div style="overflow-x:auto"><table style="{_CODE}"><tr>{head}</tr>{body}</table></div>{more}'
    opens = " open" if shown.is_open else ""
    return f"<details{opens}><summary>{escape(shown.title)}</summary>{table}</details>"


def _td(said: str, is_figure: bool) -> str:
    return f'<td style="{_CELL.format(_align(is_figure))}">{escape(said)}</td>'


def _align(is_figure: bool) -> str:
    return "right" if is_figure else "left"


def _bar(part: float) -> str:
    """A bar as long as the share, with the share in words beside it."""
    length = max(1, round(part * BAR_WIDTH))
    # as many pixels as it is large: style sheets that let an image choose its height, as nbconvert's, keep its shape
    return f"{_image(np.ones((BAR_HEIGHT, length), np.uint8), '', length, BAR_HEIGHT)} {share(part)}"


def _chart(curve: MemoryCurve) -> str:
    """The curve as an area, the peak as a line through its height; its figures stand below."""
    image = _image(_area(curve), curve.text, WIDTH, HEIGHT)
    return f'<p style="margin:4px 0">{image}<br>{escape(curve.text)}</p>'


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


def _image(pixels: Pixels, alt: str, width: int, height: int) -> str:
    data = base64.b64encode(png(pixels, (_CLEAR, _INK, _PEAK))).decode()
    return f'<img alt="{escape(alt)}" width="{width}" height="{height}" src="data:image/png;base64,{data}">'
