"""The lanes of a timeline as an HTML table without script: a label and a strip of pixels each, a few kilobytes."""

from __future__ import annotations

import base64
from html import escape

import numpy as np

from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import SECOND, TimeUnit
from jaxstage_ext.report.text.units import plural, scaled
from jaxstage_ext.views.charts.png import Colour, png
from jaxstage_ext.views.lane_strips import COLOURS, LEVELS, LaneStrip, Window, lane_strips, whole
from jaxstage_ext.views.words import clean, cut

COLUMNS, STRIP_HEIGHT = 640, 12
LARGEST = 60_000
_OPACITY = (0, 90, 160, 255)
_CELL = "padding:0 8px 0 0; text-align:left; white-space:nowrap; background:transparent; border:none; line-height:14px"
_DIM = "color:#71767d"


def lanes_html(timeline: Timeline, window: Window | None = None) -> str:
    """One row a lane, under 60 kB; empty where the recording has no events, or has cycles of an unknown clock."""
    if timeline.recording.unit is TimeUnit.CYCLE:
        return ""
    window = whole(timeline) if window is None else window
    for most in (24, 12, 6):
        strips, left_out = lane_strips(timeline, COLUMNS, window, most)
        html = _table(strips, left_out, window) if strips else ""
        if len(html.encode("utf-8", "replace")) < LARGEST:
            return html
    return ""


def _table(strips: list[LaneStrip], left_out: int, window: Window) -> str:
    rows, group = "", None
    for strip in strips:
        rows += _row(strip, strip.group if strip.group != group else "")
        group = strip.group
    span = scaled((window[1] - window[0]) / SECOND, "s")
    more = f"; {plural(left_out, 'more lane')}" if left_out else ""
    rows += f'<tr><td style="{_CELL}"></td><td style="{_CELL};{_DIM}">{span} from left to right{more}</td></tr>'
    return f'<div style="overflow-x:auto"><table style="margin:4px 0">{rows}</table></div>'


def _row(strip: LaneStrip, group: str) -> str:
    name = f"{group} {strip.name}" if group else strip.name
    image = base64.b64encode(png(_pixels(strip), _palette())).decode()
    return (
        f'<tr><td style="{_CELL}">{escape(cut(clean(name), 36))}</td><td style="{_CELL}">'
        f'<img alt="" width="{COLUMNS}" height="{STRIP_HEIGHT}" style="display:block; margin:1px 0" '
        f'src="data:image/png;base64,{image}"></td></tr>'
    )


def _pixels(strip: LaneStrip) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    row = (strip.kind * (LEVELS + 1) + strip.level).astype(np.uint8)
    return row.reshape(1, -1)


def _palette() -> list[Colour]:
    return [(*_channels(colour), opacity) for colour in COLOURS.values() for opacity in _OPACITY]


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
