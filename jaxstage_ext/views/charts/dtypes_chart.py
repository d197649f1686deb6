"""The dtype conversions as a plotly figure that stands alone: the bytes that each source line's values grow by."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from jaxstage_ext.report.text.terminal import clean, cut

if TYPE_CHECKING:
    from jaxstage_ext.analysis.dtypes.dtype_table import Dtypes

MOST_BARS = 40
_WIDEST = 160


def figure(dtypes: Dtypes) -> Any:
    """A `plotly.graph_objects.Figure`: a bar for each line and pair of dtypes, larger values to the right.

    Raises ImportError, with the pip line, where plotly is missing.
    """
    try:
        from jaxstage_ext.analysis.described_chart import DescribedFigure
        from jaxstage_ext.analysis.described_chart import graph_objects as go
    except ImportError:
        raise ImportError("dtypes_figure needs plotly: pip install plotly") from None
    made, every = DescribedFigure(), _totals(dtypes)
    shown = sorted(every.items(), key=lambda item: -abs(item[1]))[:MOST_BARS]
    for stage, colour in (("jaxpr", "#2f74d0"), ("HLO", "#d9822b")):
        bars = [(name, grows) for (at, name), grows in shown if at == stage]
        if bars:
            names, grows = zip(*bars, strict=True)
            made.add_trace(go.Bar(orientation="h", x=grows, y=names, name=stage, marker_color=colour))
    left = len(every) - len(shown)
    more = f"<br>The largest {len(shown)} are drawn, {left:,} more are not." if left > 0 else ""
    made.update_layout(
        title={"text": f"Dtypes<br><sup>{escape(clean(dtypes.headline))}{more}</sup>"},
        xaxis={"title": {"text": "bytes that the values grow by, all runs"}, "tickformat": ".3s", "ticksuffix": "B"},
        yaxis={"autorange": "reversed", "automargin": True},
        template="plotly_white",
    )
    return made


def _totals(dtypes: Dtypes) -> dict[tuple[str, str], float]:
    """(stage, what) -> bytes."""
    totals: dict[tuple[str, str], float] = {}
    for conversion in dtypes.conversions:
        name = escape(
            cut(clean(f"{conversion.source} to {conversion.target} · {conversion.line or 'source unknown'}"), _WIDEST)
        )
        totals[conversion.stage, name] = totals.get((conversion.stage, name), 0.0) + conversion.total_growth
    return totals
