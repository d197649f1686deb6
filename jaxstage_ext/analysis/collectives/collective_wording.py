"""Collectives in one sentence: the costliest, its source line and why it is there, and what all of them take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxstage_ext.report.table import scaled

if TYPE_CHECKING:
    from jaxstage_ext.analysis.collectives.collective_table import Collectives, Row

ONE_DEVICE = "It runs on one device, which exchanges nothing."


def headline(found: Collectives) -> str:
    """`The costliest of 6 collectives: all-reduce of 8.39 MB over data for In [2]:3 (partial sums of dot), ...`"""
    if not found.rows:
        return _none(found.devices)
    count, first = len(found.rows), found.rows[0]
    head = "One collective" if count == 1 else f"The costliest of {count:,} collectives"
    line, causes = found.line(first), [cause.text for cause in first.causes if cause.text]
    parts = [
        f"{head}: {first.found.kind} of {scaled(first.payload, 'B')}{_over(first)}",
        f" for {line}" if line else " for no known line",
        f" ({causes[0]})" if causes else "",
    ]
    return f"{''.join(parts)}, {_taking(first)}.{_altogether(found) if count > 1 else ''}"


def _none(devices: int) -> str:
    return ONE_DEVICE if devices == 1 else f"The {devices:,} devices of this program exchange nothing."


def _over(row: Row) -> str:
    if row.groups.axes:
        return f" over {', '.join(map(str, row.groups.axes))}"
    return f" among {row.groups.size:,} devices" if row.groups.size else ""


def _taking(row: Row) -> str:
    """In whose shadow, how long, how often."""
    runs = f" in {row.runs:,.6g} runs" if row.runs != 1 else ""
    overlap = f"{row.overlap}, " if row.overlap else ""
    if row.total_seconds is None:
        return f"{overlap}time unknown: {row.why_no_seconds}"
    return f"{overlap}at least {scaled(row.total_seconds, 's')}{runs}"


def _altogether(found: Collectives) -> str:
    sent = [row.total_sent for row in found.rows]
    known = sum(one for one in sent if one is not None)
    least = "at least " if None in sent else ""
    seconds = [row.total_seconds for row in found.rows]
    times = [one for one in seconds if one is not None]
    exposed = sum(row.total_seconds or 0 for row in found.rows if row.overlap == "exposed")
    time = f", which takes {scaled(sum(times), 's')} or longer, {_part(exposed, sum(times))} exposed" if times else ""
    return f" All together a device sends {least}{scaled(known, 'B')}{time}."


def _part(exposed: float, whole: float) -> str:
    return "none of it" if not exposed else "all of it" if exposed >= whole else f"{scaled(exposed, 's')} of it"
