"""What a timeline says first: which line takes the time, whether the devices idle, and what the host does then."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from jaxstage_ext.profiling.analysis.busy import DeviceTime
from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.host_activity import HostActivity, HostCause, HostDoing
from jaxstage_ext.profiling.predictions.predicted_headline import PredictedHeadline
from jaxstage_ext.report.recording import SECOND, Loss, Lost
from jaxstage_ext.report.table import Table

_SHORT_GAP = 100 * 10**6
"""A gap is short below 100 µs: about what one dispatch from Python takes."""
_MANY_GAPS = 100
_MANY_CALLS = 20
LEAST_UNRECORDED = 0.02
"""The share of what ran below which work without an event is left out of account."""
_MISSING = (Loss.CUT, Loss.DROPPED, Loss.UNREADABLE, Loss.UNFINISHED)
"""Of these it is not known what the events were."""


class Bound(enum.Enum):
    """What most of the window goes to. The kinds of idle time are by what the host does for most of it."""

    NOTHING = "nothing was recorded"
    CUT = "no device work is among the events that were kept"
    RANGES = "only ranges inside a kernel were recorded"
    DEVICE = "device"
    COPY = "copies that no compute hides"
    COLLECTIVE = "collectives that no compute hides"
    INPUT = "idle: the host fetches input"
    HOST = "idle: the host runs Python"
    LAUNCH = "idle: many short gaps between short kernels"
    COMPILE = "idle: the host compiles"
    RUNTIME = "idle: the host is in the runtime, or waits"
    IDLE = "idle: unknown why"
    UNRECORDED = "work that no event describes"


_IDLE = (Bound.INPUT, Bound.HOST, Bound.LAUNCH, Bound.COMPILE, Bound.RUNTIME, Bound.IDLE)


@dataclass(frozen=True)
class Headline:
    """The answer to "which line takes the time, and is the device idle?"."""

    bound: Bound
    devices: int = 0
    window: float = 0.0
    """Seconds of all devices together."""
    busy: float = 0.0
    idle: float = 0.0
    """`busy`, `idle`: shares of it, 0 to 1."""
    line: str = ""
    """The source line of the most busy time, "" where none is known; `line_share` is its share of the busy time."""
    line_share: float = 0.0
    is_least: bool = False
    """Whether it is a share of the time that programs run, at least: part of that has no event."""
    may_trail: bool = False
    """Whether another line may have taken more in that part."""
    is_library: bool = False
    """Whether that is a line of a library."""
    is_inferred: bool = False
    """Whether most of that time is of instructions whose line was inferred."""
    op: str = ""
    """The HLO instruction or kernel of the most busy time; `op_share` is its share."""
    op_share: float = 0.0
    attributed: float = 0.0
    """Share of the device time whose source line is known."""
    row: int = -1
    """Of the HLO document, -1 for none."""
    exposed_copy: float = 0.0
    exposed_collective: float = 0.0
    """`exposed_copy`, `exposed_collective`: shares of the window."""
    gaps: int = 0
    """Idle times."""
    short_gaps: int = 0
    """Of these, below 100 µs."""
    typical_gap: float = 0.0
    """The median, in seconds."""
    doing: HostDoing = field(default_factory=lambda: HostDoing(HostCause.UNKNOWN))
    """What the host does for most of the idle time."""
    host_line: str = ""
    """The label of its line."""
    unrecorded: float = 0.0
    """The share of the window in which a program ran and no event says what: neither busy nor idle."""
    unfinished: bool = False
    """Whether programs still ran when the recording ended, so that how long devices idle is unknown."""
    repeated: str = ""
    """The program that every step calls very often, "" for none; `calls` is how often."""
    calls: int = 0
    recorders: int = 0
    """Warps or warpgroups that recorded ranges on the device, where those are all that was recorded."""
    predicted: PredictedHeadline | None = None
    """What it rests on where nothing ran and times are estimates."""


@dataclass(frozen=True)
class Leading:
    """The rows of the most busy time: a line, and an instruction or kernel."""

    line: str = ""
    line_share: float = 0.0
    is_least: bool = False
    may_trail: bool = False
    is_library: bool = False
    row: int = -1
    op: str = ""
    op_share: float = 0.0


def leading(lines: Table, ops: Table, kernels: Table, unrecorded: float = 0.0) -> Leading:
    """The line and the instruction of the most busy time; the kernel where no instruction is known.

    Nothing where what ran in the `unrecorded` seconds may have been one other line that takes more by itself.
    """
    if unrecorded and len(lines) > 1:
        return _leading_at_least(lines, unrecorded)
    line = next((row for row in lines.rows() if row["line"] is not None), None)
    op = next(({**row, "name": row["op"]} for row in ops.rows()), None)
    if op is None or op["name"] is None:
        op = next(({**row, "name": row["kernel"]} for row in kernels.rows()), None)
    return Leading(
        line["line"] if line else "",
        (line["share"] or 0.0) if line else 0.0,
        False,
        False,
        bool(line["library"]) if line else False,
        line["row"] if line else -1,
        (op["name"] or "") if op else "",
        (op["share"] or 0.0) if op else 0.0,
    )


def _leading_at_least(lines: Table, unrecorded: float) -> Leading:
    """The line that has the most, where that is more than all of the `unrecorded` seconds."""
    rows = sorted(lines.rows(), key=lambda row: -row["busy"])
    first, second = rows[0], rows[1]
    if first["line"] is None or first["busy"] <= unrecorded:
        return Leading()
    share = first["busy"] / (sum(row["busy"] for row in rows) + unrecorded)
    may_trail = first["busy"] <= second["busy"] + unrecorded
    return Leading(first["line"], share, True, may_trail, bool(first["library"]), first["row"])


def of_ranges(ranges: Table, recorders: int) -> Headline:
    """The headline of ranges that a kernel recorded."""
    top = next(ranges.rows(), None)
    if top is None or not recorders:
        return Headline(Bound.NOTHING)
    return Headline(Bound.RANGES, op=top["range"], op_share=top["share"] or 0.0, recorders=recorders)


def of_what_is_kept(headline: Headline, lost: Sequence[Lost]) -> Headline:
    """The headline, which does not say that nothing ran, or that devices idled, where events of that are missing."""
    if headline.bound is Bound.NOTHING and any(each.loss in _MISSING for each in lost):
        return replace(headline, bound=Bound.CUT)
    if not any(each.loss is Loss.UNFINISHED for each in lost):
        return headline
    is_idle = headline.bound in _IDLE
    return replace(headline, unfinished=True, bound=Bound.UNRECORDED if is_idle else headline.bound)


def read(
    times: Sequence[DeviceTime],
    work: DeviceWork,
    top: Leading,
    attributed: float,
    hosts: Mapping[int, HostActivity],
) -> Headline:
    """The headline of a timeline."""
    window = sum(time.length for time in times)
    if not len(work) or not window:
        return Headline(Bound.NOTHING, len(times))
    idle = sum(time.idle.total for time in times)
    exposed = {
        Bound.COPY: sum(time.exposed_copy for time in times),
        Bound.COLLECTIVE: sum(time.exposed_collective for time in times),
    }
    gaps = np.concatenate([time.idle.end - time.idle.start for time in times])
    doing = _doing(times, hosts) if idle else HostDoing(HostCause.UNKNOWN)
    others = max(window - idle - sum(exposed.values()), 0)
    unrecorded = sum(time.unrecorded.total for time in times)
    others = max(others - unrecorded, 0)
    spent = {Bound.DEVICE: others, **exposed, Bound.IDLE: idle, Bound.UNRECORDED: unrecorded}
    bound = max(spent, key=lambda kind: spent[kind])
    return Headline(
        bound=_idle_bound(doing, gaps) if bound is Bound.IDLE else bound,
        devices=len(times),
        window=window / SECOND,
        busy=1 - (idle + unrecorded) / window,
        idle=idle / window,
        line=top.line,
        line_share=top.line_share,
        is_least=top.is_least,
        may_trail=top.may_trail,
        is_library=top.is_library,
        op=top.op,
        op_share=top.op_share,
        attributed=attributed,
        row=top.row,
        unrecorded=unrecorded / window,
        exposed_copy=exposed[Bound.COPY] / window,
        exposed_collective=exposed[Bound.COLLECTIVE] / window,
        gaps=len(gaps),
        short_gaps=int((gaps < _SHORT_GAP).sum()),
        typical_gap=float(np.median(gaps)) / SECOND if len(gaps) else 0.0,
        doing=doing,
    )


def repeated(programs: Sequence[str], steps: int) -> tuple[str, int]:
    """(the program that each step runs most often, how often); ("", 0) where that is seldom.

    `programs` are the names of the modules, a run each.
    """
    [(name, runs)] = Counter(programs).most_common(1) or [("", 0)]
    calls = runs // steps if steps else 0
    return (name.removeprefix("jit_"), calls) if name and calls >= _MANY_CALLS else ("", 0)


def _doing(times: Sequence[DeviceTime], hosts: Mapping[int, HostActivity]) -> HostDoing:
    """What the host of the device that idles most does then."""
    most = max(times, key=lambda time: time.idle.total)
    return hosts[most.device.host].during(most.idle)


def _idle_bound(doing: HostDoing, gaps: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Bound:
    short = gaps[gaps < _SHORT_GAP]
    if doing.is_input:
        return Bound.INPUT
    if doing.cause is HostCause.COMPILE:
        return Bound.COMPILE
    if len(short) >= _MANY_GAPS and 2 * short.sum() >= gaps.sum():
        return Bound.LAUNCH
    if doing.cause is HostCause.LINE:
        return Bound.HOST
    return Bound.IDLE if doing.cause is HostCause.UNKNOWN else Bound.RUNTIME
