"""A Mosaic GPU profiler buffer as a recording: one lane for each warp or warpgroup, grouped by SM."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.mosaic.mosaic_buffer import MosaicRecords, Whole, read_records
from jaxstage_ext.profiling.mosaic.mosaic_clock import MosaicTimes, picoseconds, times_of
from jaxstage_ext.profiling.mosaic.mosaic_ranges import MosaicRanges, paired
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.report.recording import (
    NONE,
    EventKind,
    EventLane,
    Events,
    LaneKind,
    Loss,
    Lost,
    Ops,
    Recording,
    TimeUnit,
)

FACTS = "Mosaic GPU"
"""The key of `Recording.device_facts` that has what the ranges were recorded with."""


def decode(
    buffer: npt.ArrayLike, spec: MosaicSpec, sm_clock: float | None = None, overhead: int | None = None
) -> Recording:
    """The ranges that a Mosaic GPU kernel recorded on the device.

    Args:
      buffer: the words that the kernel wrote, uint32[blocks * traces per block * entries].
      spec: what they were recorded with.
      sm_clock: frequency of the SMs in hertz, which turns cycles into time. Without it, times are in cycles, and those
        of two SMs are not compared.
      overhead: cycles that recording one record took, subtracted from what came later in its trace. None estimates it:
        one less than the shortest step between two records, at most 11.

    Raises:
      UnreadableProfile: the buffer does not fit the specification, or its layout is ambiguous.
      ValueError: `sm_clock` is not between 1 MHz and 100 GHz, or `overhead` is negative.
    """
    if sm_clock is not None and not 1e6 <= sm_clock <= 1e11:
        raise ValueError(f"sm_clock is in hertz, such as 1.98e9, not {sm_clock}")
    if overhead is not None and overhead < 0:
        raise ValueError(f"overhead is a count of cycles, not {overhead}")
    records = read_records(buffer, spec)
    times = times_of(records, spec, sm_clock, overhead)
    ranges = paired(records)
    place = _LanePlaces.of(records, spec)
    names, name = _names(records.name[ranges.begin], spec)
    begin, end = _times(ranges.begin, records, times, sm_clock), _times(ranges.end, records, times, sm_clock)
    lane = place.of_trace[records.trace[ranges.begin]]
    order = np.lexsort((ranges.begin, begin - end, begin, lane))
    lost = _lost(records, times, ranges, place, spec)
    return Recording(
        title=_title(spec, sm_clock),
        format="mosaic",
        lanes=place.lanes if sm_clock is not None else place.lanes_by_clock,
        names=names,
        events=_events(begin[order], end[order], lane[order], name[order]),
        ops=Ops(np.zeros(0, np.int32), ()),
        lost=lost,
        total=len(order) + sum(item.count or 0 for item in lost if item.loss in (Loss.OVERFULL, Loss.UNREADABLE)),
        details=OnDeviceDetails(records, ranges, order, spec, np.asarray(buffer), sm_clock),
        device_facts={FACTS: _facts(records, times, spec, sm_clock)},
        hosts=("",) if sm_clock is not None else tuple(place.groups),
        unit=TimeUnit.PICOSECOND if sm_clock is not None else TimeUnit.CYCLE,
    )


@dataclass(frozen=True)
class _LanePlaces:
    """The lanes of the traces that have records; `of_trace` is NONE for the others."""

    of_trace: npt.NDArray[np.int32]
    lanes: tuple[EventLane, ...]
    groups: tuple[str, ...]

    @classmethod
    def of(cls, records: MosaicRecords, spec: MosaicSpec) -> _LanePlaces:
        filled = np.flatnonzero(records.counts)
        filled = filled[np.lexsort((filled, records.sm[filled]))]
        of_trace = np.full(len(records.counts), NONE, np.int32)
        of_trace[filled] = np.arange(len(filled))
        groups = [f"SM {sm}" for sm in records.sm[filled].tolist()]
        lanes = tuple(
            EventLane(group, trace_name(trace, spec), LaneKind.ON_DEVICE)
            for group, trace in zip(groups, filled.tolist(), strict=True)
        )
        return cls(of_trace, lanes, tuple(dict.fromkeys(groups)))

    @property
    def lanes_by_clock(self) -> tuple[EventLane, ...]:
        """The same lanes, where each SM has a clock of its own."""
        host = {group: number for number, group in enumerate(self.groups)}
        return tuple(EventLane(lane.group, lane.name, lane.kind, host=host[lane.group]) for lane in self.lanes)


def trace_name(trace: int, spec: MosaicSpec) -> str:
    """Such as "block 3, warpgroup 1", or, in a grid of several dimensions, "block (0, 3), warpgroup 1".

    Of an unknown launch it is "warpgroup 7", the eighth of all.
    """
    if not spec.launch_known:
        return f"{spec.scope} {trace}"
    block, within = divmod(trace, spec.traces_per_block)
    at = tuple(int(index) for index in np.unravel_index(block, spec.grid)) if spec.grid else (0,)
    wide = [index for index, size in zip(at, spec.grid, strict=False) if size > 1]
    shown = str(tuple(wide)) if len(wide) > 1 else str(wide[0] if wide else 0)
    return f"block {shown}, {spec.scope} {within}"


def _title(spec: MosaicSpec, sm_clock: float | None) -> str:
    clock = "in cycles of an unknown SM clock" if sm_clock is None else f"SM clock {sm_clock / 1e9:.4g} GHz"
    return f"{spec.kernel or 'Mosaic GPU kernel'}, {clock}"


def _names(number: Whole, spec: MosaicSpec) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    """The names of ranges by their number, and those that the profile does not define behind them."""
    unknown = np.unique(number[number >= len(spec.names)])
    made = tuple(f"unknown name {name}" for name in unknown.tolist())
    index = np.where(number < len(spec.names), number, len(spec.names) + np.searchsorted(unknown, number))
    return (*spec.names, *made), index.astype(np.int32)


def _times(row: Whole, records: MosaicRecords, times: MosaicTimes, sm_clock: float | None) -> Whole:
    since = times.since[row]
    return times.start[records.trace[row]] + (since if sm_clock is None else picoseconds(since, sm_clock))


def _events(begin: Whole, end: Whole, lane: npt.NDArray[np.int32], name: npt.NDArray[np.int32]) -> Events:
    nothing = np.full(len(begin), NONE, np.int32)
    kind = np.full(len(begin), EventKind.RANGE, np.uint8)
    return Events(begin, end - begin, lane, name, kind, nothing, nothing, nothing, np.zeros(len(begin), np.int64))


def _lost(
    records: MosaicRecords, times: MosaicTimes, ranges: MosaicRanges, place: _LanePlaces, spec: MosaicSpec
) -> tuple[Lost, ...]:
    begun = records.trace[ranges.begin]
    traces = len(records.counts)
    unknown = begun[records.name[ranges.begin] >= len(spec.names)]
    left_open = np.bincount(begun[ranges.open], minlength=traces)
    dropped = np.maximum(records.dropped - left_open + 1, 0) // 2
    by_loss = (
        (Loss.OVERFULL, np.where(records.overwritten, 0, dropped)),
        (Loss.UNREADABLE, records.odd + ranges.stray + np.where(records.overwritten, dropped, 0)),
        (Loss.UNMATCHED, left_open),
        (Loss.BACKWARDS, times.backwards),
        (Loss.UNKNOWN_NAME, np.bincount(unknown, minlength=traces)),
    )
    counted = (
        Lost(loss, int(count[trace]), _where(int(trace), records, spec))
        for loss, count in by_loss
        for trace in np.flatnonzero(count)
    )
    ends_dropped = (records.dropped > 0) & (dropped == 0) & ~records.overwritten
    at_end = np.flatnonzero(records.full | ends_dropped)
    full = (Lost(Loss.OVERFULL, None, _where(int(trace), records, spec)) for trace in at_end)
    return tuple(itertools.chain(counted, full))


def _where(trace: int, records: MosaicRecords, spec: MosaicSpec) -> str:
    return f"SM {records.sm[trace]}, {trace_name(trace, spec)}"


@dataclass(frozen=True, eq=False)
class OnDeviceDetails:
    """The fields of one event, by its index; `words` are those that were decoded, `sm_clock` the clock, if given."""

    records: MosaicRecords
    ranges: MosaicRanges
    order: Whole
    spec: MosaicSpec
    words: npt.NDArray[Any]
    sm_clock: float | None

    def __call__(self, event: int) -> Mapping[str, Any]:
        row = int(self.order[event])
        begin, end = int(self.ranges.begin[row]), int(self.ranges.end[row])
        trace = int(self.records.trace[begin])
        return {
            "SM": int(self.records.sm[trace]),
            **({"block": trace // self.spec.traces_per_block} if self.spec.launch_known else {}),
            str(self.spec.scope): trace % self.spec.traces_per_block,
            "depth": int(self.ranges.depth[row]),
            "clock at begin": int(self.records.clock[begin]),
            "clock at end": int(self.records.clock[end]),
            "left open": bool(self.ranges.open[row]),
        }


def _facts(records: MosaicRecords, times: MosaicTimes, spec: MosaicSpec, sm_clock: float | None) -> Mapping[str, Any]:
    filled = records.counts > 0
    return {
        "kernel": spec.kernel,
        "sm_clock_hz": sm_clock,
        "layout": str(records.layout),
        "scope": str(spec.scope),
        "entries": spec.entries,
        "grid": spec.grid,
        "block": spec.block,
        "bounds_check": spec.bounds_check,
        "launch_known": spec.launch_known,
        "traces": len(filled),
        "traces_recorded": int(filled.sum()),
        "overhead_cycles": times.overhead,
        "most_overhead_cycles": times.overhead * max(0, int(np.max(records.counts, initial=0)) - 1),
        "timer_ns": times.timer,
    }
