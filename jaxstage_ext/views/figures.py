"""Charts that stand alone: plain `plotly.graph_objects.Figure`s, plotly imported when one is first made."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxstage_ext.analysis.cost.ceilings import Ceiling
from jaxstage_ext.analysis.cost.roofline import COMPUTE, INTERCONNECT, MEMORY, UNKNOWN, Roofline
from jaxstage_ext.report.units import scaled

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MANY = 3000
"""Points above which WebGL draws them."""
COLOURS = {COMPUTE: "#d9822b", MEMORY: "#2f74d0", INTERCONNECT: "#8e5bc0", UNKNOWN: "#8a919c"}
_SMALLEST, _LARGEST = 6.0, 36.0


def roofline(found: Roofline) -> Figure:
    """One point an instruction, at its intensity and the FLOP/s that it can reach; size by bytes, ceilings by dtype.

    An instruction that only moves data, or of which something is unknown, has no place here; the title counts them.
    """
    from plotly import graph_objects

    figure: Figure = graph_objects.Figure()
    shown = np.flatnonzero(np.isfinite(found.attainable))
    low, high = span(found, shown)
    for trace in _roofs(found, low, high):
        figure.add_trace(graph_objects.Scatter(**trace))
    kind = graph_objects.Scattergl if len(shown) > MANY else graph_objects.Scatter
    for bound in COLOURS:
        at = shown[[found.bound[i] == bound for i in shown]]
        if len(at):
            figure.add_trace(kind(**_points(found, at, bound)))
    figure.update_layout(**_layout(found))
    return figure


def span(found: Roofline, shown: Any) -> tuple[float, float]:
    """The intensities that the chart reaches from and to: all points and all ridges, and a third of a decade more."""
    places = [*found.intensity[shown].tolist(), *found.ridges.values()] or [0.1, 100.0]
    return min(places) / 2, max(places) * 2


def _roofs(found: Roofline, low: float, high: float) -> list[dict[str, Any]]:
    """A line for each dtype's ceiling, and the memory's slope up to the highest of them."""
    roofs = []
    for dtype, peak in sorted(found.peaks.items(), key=lambda item: item[1]):
        start = min(found.ridges.get(dtype, low), high)
        roofs.append(_line([start, high], [peak, peak], f"{dtype} {scaled(peak, 'FLOP/s')}", "solid"))
    if found.bandwidth:
        end = max(found.ridges.values(), default=high)
        name = f"memory {scaled(found.bandwidth, 'B/s')}"
        roofs.append(_line([low, end], [low * found.bandwidth, end * found.bandwidth], name, "dash"))
    return roofs


def _line(x: list[float], y: list[float], name: str, dash: str) -> dict[str, Any]:
    return {"x": x, "y": y, "name": name, "mode": "lines", "line": {"dash": dash, "width": 1.5}, "hoverinfo": "name"}


def _points(found: Roofline, at: Any, bound: Ceiling) -> dict[str, Any]:
    root = np.sqrt(found.moved)
    size = _SMALLEST + (_LARGEST - _SMALLEST) * root[at] / max(float(np.nanmax(root)), 1.0)
    return {
        "x": found.intensity[at],
        "y": found.attainable[at],
        "name": f"bound by {bound}" if bound != UNKNOWN else "bound unknown",
        "mode": "markers",
        "marker": {"size": size, "color": COLOURS[bound], "opacity": 0.7, "line": {"width": 0.5}},
        "text": [_told(found, int(i)) for i in at],
        "customdata": found.row[at],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _told(found: Roofline, i: int) -> str:
    parts = [
        f"<b>{escape(found.names[i])}</b>",
        escape(found.line[i]) or "source unknown",
        f"{scaled(found.flops[i], 'FLOP')}, {_bytes(found, i)}, {found.intensity[i]:.3g} FLOP/B",
        f"at least {scaled(found.seconds[i], 's')} on the {escape(found.unit[i]) or 'unknown'} units",
    ]
    return "<br>".join(parts)


def _bytes(found: Roofline, i: int) -> str:
    near = f" ({scaled(found.near[i], 'B')} of them on the chip)" if found.near[i] else ""
    return f"{scaled(found.moved[i], 'B')}{near}"


def _layout(found: Roofline) -> dict[str, Any]:
    told = "<br>".join(escape(text) for text in (found.verdict, found.left_out) if text)
    return {
        "title": {"text": f"Roofline of {escape(found.title)}<br><sup>{told}</sup>"},
        "xaxis": {"type": "log", "title": {"text": "arithmetic intensity (FLOP/B)"}},
        "yaxis": {"type": "log", "title": {"text": "attainable FLOP/s"}, "exponentformat": "SI"},
        "hovermode": "closest",
        "template": "plotly_white",
    }
