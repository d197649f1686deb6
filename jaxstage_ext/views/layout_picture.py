"""The map of the layouts of a search as a picture that stands still: time to the right, memory upwards."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.still_table import Colour as TextColour
from jaxstage_ext.report.text.still_table import Picture
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.search.drawn.layout_columns import LayoutColumns, PointState
from jaxstage_ext.views.charts.picture_axis import PictureAxis
from jaxstage_ext.views.charts.pixel_text import pixel_text
from jaxstage_ext.views.charts.png import Colour, png

WIDTH, HEIGHT, MARGIN = 560, 230, 10
LEFT, BELOW = 66, 20
"""Pixels for the values of the axes."""
KINDS = ("#3075d0", "#2d854b", "#cf4545", "#875fd1", "#aa641f", "#c14c7a", "#23818b", "#8e7225")
"""Of the kinds, the one with the fastest layout first; each stands out against white and against black."""
_REST = "#71767d"
UP, ACROSS = "↑ arguments on one device", "→ estimated time of one call"
ACROSS_COST = "→ estimated cost of one call, times the least"
_INK, _RED, _GRID = (len(KINDS) + place for place in (2, 3, 4))
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
    up, across = (said(text, TextColour.DIM) for text in (UP, ACROSS if shown.has_seconds else ACROSS_COST))
    drawn = markup.lines([up, markup.picture(picture), across])
    return markup.paragraph(drawn, legend, said(caption, TextColour.DIM, most=400))


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
    across = PictureAxis.of(shown.time[placed].tolist(), LEFT + MARGIN, WIDTH - 1 - MARGIN)
    up = PictureAxis.of(heights, HEIGHT - 1 - BELOW - MARGIN, MARGIN)
    pixels = np.zeros((HEIGHT, WIDTH), np.uint8)
    _grid(pixels, across, up, "s" if shown.has_seconds else "x")
    if room is not None:
        columns = np.arange(LEFT, WIDTH)
        pixels[up.pixel(room), columns[columns % 8 < 5]] = _RED
    for row in reversed(placed.tolist()):
        x, y = across.pixel(float(shown.time[row])), up.pixel(float(shown.arguments[row]))
        look = min(looks[shown.layouts[row].kind.value], len(KINDS))
        size = 3 if shown.state[row] != PointState.ESTIMATE else 2
        pixels[y - size : y + size + 1, x - size : x + size + 1] = 1 + look
        if shown.state[row] == PointState.ESTIMATE:
            pixels[y - 1 : y + 2, x - 1 : x + 2] = 0
    if shown.own is not None and shown.own in placed:
        _ring(pixels, across.pixel(float(shown.time[shown.own])), up.pixel(float(shown.arguments[shown.own])))
    colours = [*map(_colour, KINDS), _colour(_REST), *map(_colour, ("#7f8a99", "#cf4545")), (128, 128, 128, 70)]
    return png(pixels, ((0, 0, 0, 0), *colours))


def _grid(pixels: npt.NDArray[np.uint8], across: PictureAxis, up: PictureAxis, unit: str) -> None:
    """A line for each round value, with the value at its end."""
    for value in up.ticks(5):
        pixels[up.pixel(value), LEFT:] = _GRID
        text = pixel_text(scaled(value, "B"))
        _write(pixels, text, LEFT - 6 - text.shape[1], up.pixel(value) - text.shape[0] // 2)
    for value in across.ticks(6):
        pixels[: HEIGHT - BELOW, across.pixel(value)] = _GRID
        text = pixel_text(scaled(value, unit))
        _write(pixels, text, across.pixel(value) - text.shape[1] // 2, HEIGHT - BELOW + 6)


def _write(pixels: npt.NDArray[np.uint8], text: npt.NDArray[np.bool_], x: int, y: int) -> None:
    """A text with its upper left corner there, moved to where there is room."""
    height, width = text.shape
    left, top = min(max(0, x), WIDTH - width), min(max(0, y), HEIGHT - height)
    pixels[top : top + height, left : left + width][text] = _INK


def _ring(pixels: npt.NDArray[np.uint8], x: int, y: int) -> None:
    for dx, dy in (*_RING, *_RING_SIDES):
        pixels[y + dy, x + dx] = _INK


def _colour(code: str) -> Colour:
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16), 255
