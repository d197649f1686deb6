"""The map of the layouts of a search as a picture that stands still: time to the right, memory upwards."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.still_table import Colour as TextColour
from jaxstage_ext.report.text.still_table import Picture
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.search.drawn.layout_columns import LayoutColumns, PointState
from jaxstage_ext.views.charts.png import Colour, png

WIDTH, HEIGHT, MARGIN = 480, 200, 10
KINDS = ("#3075d0", "#2d854b", "#cf4545", "#875fd1", "#aa641f", "#c14c7a", "#23818b", "#8e7225")
"""Of the kinds, the one with the fastest layout first; each stands out against white and against black."""
_REST = "#71767d"
_RATIO = 10
"""From so many times the least on, an axis is logarithmic."""
_RING = ((-4, -4), (-4, 4), (4, -4), (4, 4), (0, 5), (0, -5), (5, 0), (-5, 0), (3, 5), (-3, 5), (3, -5), (-3, -5))
_RING_SIDES = ((5, 3), (5, -3), (-5, 3), (-5, -3))


def layout_map(shown: LayoutColumns, room: int | None) -> Html:
    """The picture with what its axes, lines and colours mean; nothing where no layout has a place in it."""
    placed = np.flatnonzero(np.isfinite(shown.time) & (shown.arguments > 0))
    if not len(placed):
        return markup.NOTHING
    is_near = room is not None and room <= 2.5 * float(np.max(shown.arguments[placed]))
    legend = markup.together((said(f"● {name}", colour) for name, colour in _legend(shown)), " ")
    caption = _caption(shown, placed, room if is_near else None)
    picture = Picture(_drawn(shown, placed, room if is_near else None), WIDTH, HEIGHT, caption)
    return markup.paragraph(markup.picture(picture), legend, said(caption, TextColour.DIM, most=400))


def _legend(shown: LayoutColumns) -> list[tuple[str, str]]:
    names = [shown.layouts[row].kind.value for row in shown.bests()]
    return [(name, KINDS[at] if at < len(KINDS) else _REST) for at, name in enumerate(names)]


def _caption(shown: LayoutColumns, placed: npt.NDArray[np.int64], room: int | None) -> str:
    time, held = shown.time[placed].tolist(), shown.arguments[placed].tolist()
    unit = "s" if shown.has_seconds else "x"
    across = f"{scaled(min(time), unit)} to {scaled(max(time), unit)} a call"
    up = f"{scaled(min(held), 'B')} to {scaled(max(held), 'B')} of arguments on one device"
    line = f"; the line: the {scaled(room, 'B')} of one device" if room is not None else ""
    ring = "; in the ring: your own specs" if shown.own is not None else ""
    return f"To the right the estimated time, {across}; upwards {up}{line}{ring}. Full points are compiled."


def _drawn(shown: LayoutColumns, placed: npt.NDArray[np.int64], room: int | None) -> bytes:
    looks = {name: at for at, (name, _) in enumerate(_legend(shown))}
    heights = [*shown.arguments[placed].tolist(), *([room] if room is not None else [])]
    across = _places(shown.time.tolist(), shown.time[placed].tolist(), WIDTH)
    up = _places([*shown.arguments.tolist(), room or math.nan], heights, HEIGHT)
    pixels = np.zeros((HEIGHT, WIDTH), np.uint8)
    if room is not None:
        pixels[HEIGHT - 1 - up[-1], np.arange(WIDTH) % 8 < 5] = len(KINDS) + 3
    for row in reversed(placed.tolist()):
        x, y = across[row], HEIGHT - 1 - up[row]
        look = min(looks[shown.layouts[row].kind.value], len(KINDS))
        size = 3 if shown.state[row] != PointState.ESTIMATE else 2
        pixels[y - size : y + size + 1, x - size : x + size + 1] = 1 + look
        if shown.state[row] == PointState.ESTIMATE:
            pixels[y - 1 : y + 2, x - 1 : x + 2] = 0
    if shown.own is not None and shown.own in placed:
        _ring(pixels, across[shown.own], HEIGHT - 1 - up[shown.own])
    return png(pixels, ((0, 0, 0, 0), *map(_colour, KINDS), _colour(_REST), _colour("#7f8a99"), _colour("#cf4545")))


def _ring(pixels: npt.NDArray[np.uint8], x: int, y: int) -> None:
    for dx, dy in (*_RING, *_RING_SIDES):
        pixels[y + dy, x + dx] = len(KINDS) + 2


def _places(values: Sequence[float], shown: Sequence[float], length: int) -> list[int]:
    """Pixels of values on an axis that holds those shown."""
    low, high = min(shown), max(shown)
    is_log = high > _RATIO * low > 0
    scale = math.log10 if is_log else float
    start, span = scale(low), scale(high) - scale(low) or 1.0
    room = length - 1 - 2 * MARGIN

    def place(value: float) -> int:
        if not math.isfinite(value) or (is_log and value <= 0):
            return MARGIN
        return MARGIN + round(room * min(1.0, max(0.0, (scale(value) - start) / span)))

    return [place(value) for value in values]


def _colour(code: str) -> Colour:
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16), 255
