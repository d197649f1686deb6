"""The collectives as a plotly figure that stands alone: a bar each, the costliest on top."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from jaxstage_ext.analysis.collectives import collective_wording as wording
from jaxstage_ext.analysis.collectives.collective_causes import CollectiveCause
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow, Overlap
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.report.text.units import scaled

if TYPE_CHECKING:
    from jaxstage_ext.analysis.collectives.collective_table import Collectives

MOST_BARS = 40
COLOURS = {Overlap.EXPOSED: "#d9822b", Overlap.PARTLY: "#8a7fc0", Overlap.HIDDEN: "#2f74d0", None: "#8a919c"}
_WIDEST = 160


def figure(collectives: Collectives) -> Any:
    """A `plotly.graph_objects.Figure`: lower bounds of the times, or the bytes sent per device where one is unknown.

    Raises ImportError, with the pip line, where plotly is missing.
    """
    try:
        from jaxstage_ext.analysis.described_chart import DescribedFigure
        from jaxstage_ext.analysis.described_chart import graph_objects as go
    except ImportError:
        raise ImportError("collectives_figure needs plotly: pip install plotly") from None
    made, shown = DescribedFigure(), collectives.rows[:MOST_BARS]
    timed = all(row.total_seconds is not None for row in collectives.rows)
    for overlap, colour in COLOURS.items():
        rows = [(place, row) for place, row in enumerate(shown) if row.overlap == overlap]
        if rows:
            made.add_trace(
                go.Bar(**_bars(collectives, rows, timed), name=overlap or "order unknown", marker_color=colour)
            )
    made.update_layout(**_layout(collectives, shown, timed))
    return made


def _bars(collectives: Collectives, rows: list[tuple[int, CollectiveRow]], timed: bool) -> dict[str, Any]:
    return {
        "orientation": "h",
        "x": [(row.total_seconds if timed else row.total_sent) or 0 for _, row in rows],
        "y": [place for place, _ in rows],
        "hovertext": [_hover_text(collectives, row) for _, row in rows],
        "hoverinfo": "text",
        "customdata": [collectives.document_row(row) for _, row in rows],
    }


def _hover_text(collectives: Collectives, row: CollectiveRow) -> str:
    seconds = row.total_seconds
    time = f"time unknown: {row.why_no_seconds}" if seconds is None else f"at least {scaled(seconds, 's')}"
    sent = "unknown" if row.total_sent is None else scaled(row.total_sent, "B")
    parts = [
        f"<b>{_safe(collectives.name(row.op.row))}</b>",
        _safe(collectives.line(row)) or "source unknown",
        f"{_safe(time)}; {sent} sent per device",
        f"groups {_safe(str(row.groups))}",
        *(_safe(_cause(cause)) for cause in row.causes[:3] if cause.is_known),
    ]
    return "<br>".join(parts)


def _cause(cause: CollectiveCause) -> str:
    text = wording.cause(cause)
    return f"{text}: {wording.before(cause)} to {wording.after(cause)}" if cause.before else text


def _safe(text: str) -> str:
    return escape(cut(clean(text), _WIDEST))


def _layout(collectives: Collectives, shown: Any, timed: bool) -> dict[str, Any]:
    left = len(collectives.rows) - len(shown)
    more = f"<br>The costliest {len(shown)} are drawn, {left:,} more are not." if left > 0 else ""
    names = [_named(collectives, row) for row in shown]
    return {
        "title": {"text": f"Collectives<br><sup>{escape(clean(collectives.headline))}{more}</sup>"},
        "xaxis": {
            "title": {"text": "lower bound of the time, all runs" if timed else "bytes sent per device, all runs"},
            "tickformat": ".3s",
            "ticksuffix": "s" if timed else "B",
            "rangemode": "tozero",
        },
        "yaxis": {"autorange": "reversed", "tickvals": list(range(len(names))), "ticktext": names, "automargin": True},
        "barmode": "overlay",
        "template": "plotly_white",
    }


def _named(collectives: Collectives, row: CollectiveRow) -> str:
    axes = ", ".join(map(str, row.groups.axes or ()))
    return _safe(" · ".join(part for part in (row.op.kind, axes, collectives.line(row)) if part))
