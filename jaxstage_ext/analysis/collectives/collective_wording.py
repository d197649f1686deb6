"""What is said of collectives, in words."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.analysis.collectives.collective_causes import CauseKind, CollectiveCause
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow, Overlap, total_sent
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.units import scaled

ONE_DEVICE = "One device; no collectives."
NO_AXES = "the groups span no axes of the program's mesh"
NO_SCHEDULE = "the module has no schedule"
NO_SCOPE = "it has no name scope"
IN_LOOP = "inside a loop of unknown length, counted once"
TRY = "What would remove a resharding: .collective_remedies of the inspection compiles it and compares."
_MOST = 3


def headline(rows: Sequence[CollectiveRow], line: str, devices: int) -> str:
    """`The costliest of 6 collectives: all-reduce of 8.39 MB over data for In [2]:3 (partial sums of dot), ...`"""
    if not rows:
        return ONE_DEVICE if devices == 1 else f"No collectives among the {devices:,} devices of this program."
    first = rows[0]
    head = "One collective" if len(rows) == 1 else f"The costliest of {len(rows):,} collectives"
    texts = [cause(known) for known in first.causes if known.is_known]
    parts = [
        f"{head}: {first.op.kind} of {scaled(first.payload, 'B')}{_over(first)}",
        f" for {line}" if line else " with no known source line",
        f" ({texts[0]})" if texts else "",
    ]
    return f"{''.join(parts)}, {_time(first)}.{_total(rows, devices) if len(rows) > 1 else ''}"


def cause(cause: CollectiveCause) -> str:
    """Why there is a collective, in a few words; "" unknown."""
    values = ", ".join(cause.values)
    inferred = " (inferred)" if cause.inferred else ""
    users = ", ".join([*cause.users, *(["the result"] if cause.is_result else [])])
    text = {
        CauseKind.UNKNOWN: "",
        CauseKind.WRITTEN: f"written as {values}",
        CauseKind.BACKWARD: f"{values} of the backward pass",
        CauseKind.RESHARDING: f"resharding of {values}" + (f" for {users}" if users else ""),
        CauseKind.PARTIAL_SUMS: f"partial sums of {values}",
        CauseKind.PARTITIONING: f"partitioning of {values}",
    }[cause.kind]
    return text + inferred if text else ""


def before(cause: CollectiveCause) -> str:
    """The shardings of what goes in."""
    return " × ".join(cause.before)


def after(cause: CollectiveCause) -> str:
    """How what goes in is used."""
    return " or ".join(use.spec + (f" with {use.beside}" if use.beside else "") for use in cause.after)


def between(lines: Sequence[str]) -> str:
    """Two lines, the cause between them."""
    return f"{', '.join(lines)} (between them)"


def listed(texts: Sequence[str], separator: str) -> str:
    """The first of some texts, and how many more there are."""
    return some(texts, _MOST, separator)


def time_note(source: str) -> str:
    """How the times were computed."""
    return f"time: at least what the links that the group spans need for these bytes ({source})."


def loop_note(unknown: int, collectives: int) -> str:
    """How many collectives are inside loops of unknown length."""
    return f"{unknown:,} of {collectives:,} are inside a loop of unknown length, which counts once."


def _over(row: CollectiveRow) -> str:
    if row.groups.axes:
        return f" over {', '.join(map(str, row.groups.axes))}"
    return f" among {row.groups.size:,} devices" if row.groups.size else ""


def _time(row: CollectiveRow) -> str:
    """Whether it is exposed, how long it takes, how often it runs."""
    runs = f" in {row.runs:,.6g} runs" if row.runs != 1 else ""
    overlap = f"{row.overlap}, " if row.overlap else ""
    if row.total_seconds is None:
        return f"{overlap}time unknown: {row.why_no_seconds}"
    exposed = f", {scaled(row.exposed, 's')} of it exposed" if row.overlap is Overlap.PARTLY and row.exposed else ""
    return f"{overlap}at least {scaled(row.total_seconds, 's')}{runs}{exposed}"


def _total(rows: Sequence[CollectiveRow], devices: int) -> str:
    sent = total_sent(rows, devices)
    least = "at least " if sent.is_least else ""
    who = "each device sends" if sent.by_each else "the device that sends most sends"
    times = [row.total_seconds for row in rows if row.total_seconds is not None]
    exposed = [row.exposed for row in rows if row.total_seconds is not None]
    part = "" if None in exposed else f", {_part(sum(part or 0 for part in exposed), sum(times))} exposed"
    time = f" in at least {scaled(sum(times), 's')}{part}" if times else ""
    return f" In total, {who} {least}{scaled(sent.most, 'B')}{time}."


def _part(exposed: float, whole: float) -> str:
    if exposed and exposed < whole and scaled(exposed, "s") == scaled(whole, "s"):
        return "nearly all of it"
    return "none of it" if not exposed else "all of it" if exposed >= whole else f"{scaled(exposed, 's')} of it"
