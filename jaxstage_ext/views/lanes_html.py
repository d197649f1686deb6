"""The lanes of a timeline as an HTML table without script: a label and a strip of pixels each, a few kilobytes."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import SECOND, TimeUnit
from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.markup import Html
from jaxstage_ext.report.text.still_table import Cell, Colour, Picture, Span, StillTable
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.report.text.units import plural, scaled
from jaxstage_ext.views.charts.png import Colour as Shade
from jaxstage_ext.views.charts.png import png
from jaxstage_ext.views.lane_strips import COLOURS, LEVELS, LaneStrip, Window, lane_strips, whole

COLUMNS, STRIP_HEIGHT = 640, 12
LARGEST = 60_000
_OPACITY = (0, 90, 160, 255)


def lanes_html(timeline: Timeline, window: Window | None = None) -> Html:
    """One row a lane, under 60 kB; empty where the recording has no events, or has cycles of an unknown clock."""
    if timeline.recording.unit is TimeUnit.CYCLE:
        return markup.NOTHING
    window = whole(timeline) if window is None else window
    for most in (24, 12, 6):
        strips, left_out = lane_strips(timeline, COLUMNS, window, most)
        how = "predicted, " if timeline.is_predicted else ""
        html = _table(strips, left_out, window, how) if strips else markup.NOTHING
        if markup.size(html) < LARGEST:
            return html
    return markup.NOTHING


def _table(strips: list[LaneStrip], left_out: int, window: Window, how: str) -> Html:
    groups = ["", *(strip.group for strip in strips)]
    rows = [_row(strip, strip.group if strip.group != group else "")
            for strip, group in zip(strips, groups, strict=False)]  # fmt: skip
    span = scaled((window[1] - window[0]) / SECOND, "s")
    more = f"; {plural(left_out, 'more lane')}" if left_out else ""
    last = ("", Span(f"{how}{span} from left to right{more}", Colour.DIM))
    return markup.table(StillTable((), (*rows, last)))


def _row(strip: LaneStrip, group: str) -> tuple[Cell, ...]:
    name = f"{group} {strip.name}" if group else strip.name
    drawn = Picture(png(_pixels(strip), _palette()), COLUMNS, STRIP_HEIGHT)
    return cut(clean(name), 36), Span("", picture=drawn)


def _pixels(strip: LaneStrip) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    row = (strip.kind * (LEVELS + 1) + strip.level).astype(np.uint8)
    return row.reshape(1, -1)


def _palette() -> list[Shade]:
    return [(*_channels(colour), opacity) for colour in COLOURS.values() for opacity in _OPACITY]


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
