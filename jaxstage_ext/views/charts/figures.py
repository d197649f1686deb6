"""Charts that stand alone: plain `plotly.graph_objects.Figure`s, plotly imported when one is first made."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxstage_ext.analysis.cost.ceilings import Ceiling
from jaxstage_ext.analysis.cost.instruction_times import COMPUTE, INTERCONNECT, MEMORY
from jaxstage_ext.analysis.cost.roofline import UNKNOWN, Roofline
from jaxstage_ext.report.text.units import scaled

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MANY = 3000
"""Points above which WebGL draws them."""
COLOURS = {COMPUTE: "#d9822b", MEMORY: "#2f74d0", INTERCONNECT: "#8e5bc0", UNKNOWN: "#8a919c"}
MEASURED = "#c0392b"
_SMALLEST, _LARGEST = 6.0, 36.0


def roofline(drawn: Roofline) -> Figure:
    """One point per instruction, at its intensity and the FLOP/s that it can reach; size by bytes, ceilings by dtype.

    Where a profile measured them, a diamond at the FLOP/s that it reached.
    Instructions that only move data, or with an unknown figure, are not drawn; the title counts them.
    """
    from jaxstage_ext.analysis.described_chart import DescribedFigure, graph_objects

    figure: Figure = DescribedFigure()
    shown = np.flatnonzero(np.isfinite(drawn.attainable))
    low, high = span(drawn, shown)
    for trace in _roofs(drawn, low, high):
        figure.add_trace(graph_objects.Scatter(**trace))
    kind = graph_objects.Scattergl if len(shown) > MANY else graph_objects.Scatter
    for bound in COLOURS:
        at = shown[[drawn.bound[i] == bound for i in shown]]
        if len(at):
            figure.add_trace(kind(**_points(drawn, at, bound)))
    measured = np.flatnonzero(np.isfinite(drawn.achieved))
    if len(measured):
        figure.add_trace(kind(**_measured(drawn, measured)))
    figure.update_layout(**_layout(drawn))
    return figure


def span(drawn: Roofline, shown: Any) -> tuple[float, float]:
    """The intensities that the chart reaches from and to: all points and all ridges, and a third of a decade more."""
    places = [*drawn.intensity[shown].tolist(), *drawn.ridges.values()] or [0.1, 100.0]
    return min(places) / 2, max(places) * 2


def _roofs(drawn: Roofline, low: float, high: float) -> list[dict[str, Any]]:
    """A line for each dtype's ceiling, and the memory's slope up to the highest of them."""
    roofs = []
    for dtype, peak in sorted(drawn.peaks.items(), key=lambda item: item[1]):
        start = min(drawn.ridges.get(dtype, low), high)
        roofs.append(_line([start, high], [peak, peak], f"{dtype} {scaled(peak, 'FLOP/s')}", "solid"))
    if drawn.bandwidth:
        end = max(drawn.ridges.values(), default=high)
        name = f"memory {scaled(drawn.bandwidth, 'B/s')}"
        roofs.append(_line([low, end], [low * drawn.bandwidth, end * drawn.bandwidth], name, "dash"))
    return roofs


def _line(x: list[float], y: list[float], name: str, dash: str) -> dict[str, Any]:
    return {"x": x, "y": y, "name": name, "mode": "lines", "line": {"dash": dash, "width": 1.5}, "hoverinfo": "name"}


def _points(drawn: Roofline, at: Any, bound: Ceiling) -> dict[str, Any]:
    root = np.sqrt(drawn.moved)
    size = _SMALLEST + (_LARGEST - _SMALLEST) * root[at] / max(float(np.nanmax(root)), 1.0)
    return {
        "x": drawn.intensity[at],
        "y": drawn.attainable[at],
        "name": f"bound by {bound}" if bound != UNKNOWN else "bound unknown",
        "mode": "markers",
        "marker": {"size": size, "color": COLOURS[bound], "opacity": 0.7, "line": {"width": 0.5}},
        "text": [_hover_text(drawn, int(i)) for i in at],
        "customdata": drawn.row[at],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _measured(drawn: Roofline, at: Any) -> dict[str, Any]:
    texts = [
        f"{_hover_text(drawn, i)}<br>measured: {scaled(drawn.measured[i], 's')}, {scaled(drawn.achieved[i], 'FLOP/s')}"
        for i in at.tolist()
    ]
    return {
        "x": drawn.intensity[at],
        "y": drawn.achieved[at],
        "name": "measured",
        "mode": "markers",
        "marker": {"size": _SMALLEST + 3, "symbol": "diamond", "color": MEASURED, "line": {"width": 0.5}},
        "text": texts,
        "customdata": drawn.row[at],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _hover_text(drawn: Roofline, i: int) -> str:
    parts = [
        f"<b>{escape(drawn.names[i])}</b>",
        escape(drawn.line[i]) or "source unknown",
        f"{scaled(drawn.flops[i], 'FLOP')}, {_bytes(drawn, i)}, {drawn.intensity[i]:.3g} FLOP/B",
        f"at least {scaled(drawn.seconds[i], 's')} on the {escape(drawn.unit[i]) or 'unknown'} unit",
    ]
    return "<br>".join(parts)


def _bytes(drawn: Roofline, i: int) -> str:
    near = f" ({scaled(drawn.near[i], 'B')} of them on the chip)" if drawn.near[i] else ""
    return f"{scaled(drawn.moved[i], 'B')}{near}"


def _rate_title(drawn: Roofline) -> str:
    return "attainable and measured FLOP/s" if np.isfinite(drawn.achieved).any() else "attainable FLOP/s"


def _layout(drawn: Roofline) -> dict[str, Any]:
    subtitle = "<br>".join(escape(text) for text in (drawn.verdict, drawn.left_out) if text)
    return {
        "title": {"text": f"Roofline of {escape(drawn.title)}<br><sup>{subtitle}</sup>"},
        "xaxis": {"type": "log", "title": {"text": "arithmetic intensity (FLOP/B)"}},
        "yaxis": {"type": "log", "title": {"text": _rate_title(drawn)}, "exponentformat": "SI"},
        "hovermode": "closest",
        "template": "plotly_white",
    }
