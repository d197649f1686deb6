"""Live bytes over the schedule, as a plotly figure that stands alone."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from jaxstage_ext.report.text.units import scaled

if TYPE_CHECKING:
    from jaxstage_ext.analysis.memory.live_memory import Memory

_MOST = 20_000
"""Points above which only the highest of each stretch are drawn."""


def figure(memory: Memory, space: str | int = 0) -> Any:
    """A `plotly.graph_objects.Figure` of one memory. Raises ImportError, with the pip line, where plotly is missing."""
    try:
        from jaxstage_ext.analysis.described_chart import DescribedFigure
        from jaxstage_ext.analysis.described_chart import graph_objects as go
    except ImportError:
        raise ImportError("memory_figure needs plotly: pip install plotly") from None
    shown, table = memory.space(space), memory.timeline(space)
    kept = _thinned(table["live"].tolist())
    names, lines = table["instruction"], table["line"]
    text = [f"{html.escape(names[i])}<br>{html.escape(lines[i])}" for i in kept]
    made = DescribedFigure(
        go.Scatter(
            x=[int(table["position"][i]) for i in kept],
            y=[int(table["live"][i]) for i in kept],
            text=text,
            line={"shape": "hv"},
            fill="tozeroy",
            name="live",
            hovertemplate="%{y:.4s}B while %{text} runs<extra></extra>",
        )
    )
    made.add_hline(y=shown.reserved, line_dash="dash", annotation_text=f"reserved {scaled(shown.reserved, 'B')}")
    room = memory.fit.room if shown.color == 0 else None
    if room is not None and room < 4 * max(shown.reserved, 1):
        made.add_hline(y=room, line_color="red", annotation_text=f"{memory.device.title}: {scaled(room, 'B')}")
    made.update_layout(
        title=html.escape(
            memory.fit.text if shown.color == 0 else f"{shown.name}: {scaled(shown.peak, 'B')} live at most"
        ),
        xaxis_title="position in the schedule",
        yaxis_title=f"live bytes of {shown.name}",
        yaxis={"tickformat": ".3s", "ticksuffix": "B", "rangemode": "tozero"},
    )
    return made


def _thinned(values: list[int]) -> list[int]:
    """Places to draw: all, or the highest and the lowest of each stretch."""
    if len(values) <= _MOST:
        return list(range(len(values)))
    step = -(-len(values) // (_MOST // 2))
    kept: set[int] = {0, len(values) - 1}
    for start in range(0, len(values), step):
        part = range(start, min(start + step, len(values)))
        kept |= {max(part, key=values.__getitem__), min(part, key=values.__getitem__)}
    return sorted(kept)
