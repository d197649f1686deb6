"""The lanes of a timeline as an SVG file with labels: events that are wide enough as boxes, the rest as shades."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import SECOND, EventKind
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.views.lane_strips import COLOURS, LEVELS, LaneStrip, Window, lane_strips, whole

WIDTH, LABELS, ROW, TOP = 1200, 220, 22, 28
MOST_BOXES, LEAST_BOX, LETTER = 2000, 3.0, 6.2
"""Events drawn as boxes of their own, how many pixels wide they are at least, and pixels of a letter."""
_TICKS = 6


def lanes_svg(timeline: Timeline, window: Window | None = None, title: str = "", most: int = 40) -> str:
    """A picture of the window, which is all of the recording by default."""
    window = whole(timeline) if window is None else window
    strips, _ = lane_strips(timeline, WIDTH - LABELS, window, most)
    height = TOP + ROW * max(1, len(strips)) + 8
    boxes = _boxes(timeline, strips, window)
    above = _axis(window, height) + _predicted(timeline)
    body = "".join(_lane(strip, TOP + ROW * at) for at, strip in enumerate(strips))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="11"><title>{escape(clean(title or timeline.recording.title))}</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>{above}{body}{"".join(boxes)}</svg>'
    )


def _predicted(timeline: Timeline) -> str:
    """That nothing ran, in the corner above the labels; "" of what was measured."""
    if timeline.recording.prediction is None:
        return ""
    label = escape(cut(clean(f"Predicted for {timeline.recording.prediction.target}, nothing ran"), 36))
    return f'<text x="4" y="14" fill="#1c2025" font-weight="bold">{label}</text>'


def _axis(window: Window, height: int) -> str:
    ticks = ""
    for tick in range(_TICKS + 1):
        x = LABELS + (WIDTH - LABELS - 1) * tick / _TICKS
        at = (window[0] + (window[1] - window[0]) * tick / _TICKS) / SECOND
        anchor = "end" if tick == _TICKS else "start"
        ticks += f'<path d="M{x:.1f} {TOP - 8}V{height}" stroke="#d5d8dd"/>'
        ticks += f'<text x="{x:.1f}" y="14" fill="#565e69" text-anchor="{anchor}">{scaled(at, "s")}</text>'
    return ticks


def _lane(strip: LaneStrip, y: int) -> str:
    label = escape(cut(clean(f"{strip.group} · {strip.name}"), 32))
    return f'<text x="4" y="{y + 14}" fill="#1c2025">{label}</text>{"".join(_shades(strip, y + 2))}'


def _shades(strip: LaneStrip, y: int) -> Iterator[str]:
    """One path for each kind and level, of runs of equal columns."""
    code = strip.kind.astype(np.int64) * (LEVELS + 1) + strip.level
    starts = np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1]]))
    lengths = np.diff(np.append(starts, len(code)))
    paths: dict[tuple[int, int], str] = {}
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        if level := int(strip.level[start]):
            key = int(strip.kind[start]), level
            paths[key] = paths.get(key, "") + f"M{LABELS + start} {y}h{length}v{ROW - 5}h-{length}z"
    for (kind, level), path in paths.items():
        yield f'<path d="{path}" fill="{COLOURS[EventKind(kind)]}" fill-opacity="{level / LEVELS:.2g}"/>'


def _boxes(timeline: Timeline, strips: list[LaneStrip], window: Window) -> Iterator[str]:
    """The widest events, the outer ones first, each with as much of its name as fits."""
    events, rows = timeline.columns, {strip.lane: at for at, strip in enumerate(strips)}
    scale = (WIDTH - LABELS) / max(1, window[1] - window[0])
    start, end = np.maximum(events.start, window[0]), np.minimum(events.end, window[1])
    wide = np.flatnonzero(((end - start) * scale >= LEAST_BOX) & np.isin(events.lane, list(rows)))
    widest = np.sort(wide[np.argsort(-(end - start)[wide], kind="stable")][:MOST_BOXES])
    for event in widest.tolist():
        x, width = LABELS + (int(start[event]) - window[0]) * scale, int(end[event] - start[event]) * scale
        y = TOP + ROW * rows[int(events.lane[event])] + 2
        name = timeline.recording.names[events.name[event]]
        yield _box(x, y, width, COLOURS[EventKind(int(events.kind[event]))], name)


def _box(x: float, y: int, width: float, colour: str, name: str) -> str:
    label = cut(clean(name), int((width - 4) / LETTER))
    text = f'<text x="{x + 2:.1f}" y="{y + 12}" fill="#fff">{escape(label)}</text>' if len(label) > 1 else ""
    place = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 5}"'
    return f'<rect {place} fill="{colour}" stroke="#fff" stroke-width=".5"/>{text}'
