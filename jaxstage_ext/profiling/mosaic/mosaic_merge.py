"""On-device profiles within the profile of the run: SM by warpgroup, behind the streams of the GPU that they ran on."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.core.jax_private.mosaic_dumps import MosaicDump
from jaxstage_ext.profiling.mosaic.mosaic_kernels import KernelClock, OnDevicePlace, kernel_places
from jaxstage_ext.profiling.mosaic.mosaic_recording import FACTS, decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.recording import NONE, EventLane, Events, Loss, Lost, Recording

_KILOHERTZ = 1e3


def with_on_device(recording: Recording, captures: Sequence[MosaicCapture], sm_clock: float | None = None) -> Recording:
    """The recording with the ranges that its kernels recorded on the device.

    Each belongs to its kernel's event where the recording has it, and is on a clock of its own otherwise, which
    `device_facts` says under "Mosaic GPU <kernel>". What cannot be decoded, or has no known clock, is in `lost`.

    Args:
      recording: the profile of the run.
      captures: the buffers, in the order in which the kernels ran.
      sm_clock: frequency of the SMs in hertz; without it, the one that the profile gives for the GPU, its maximum.
    """
    for kernel, runs in itertools.groupby(sorted(captures, key=_kernel), key=_kernel):
        recording = _with_kernel(recording, kernel, list(runs), sm_clock)
    return recording


def _kernel(capture: MosaicCapture) -> str:
    return capture.spec.kernel


def _with_kernel(recording: Recording, kernel: str, runs: Sequence[MosaicCapture], sm_clock: float | None) -> Recording:
    clock = sm_clock or _clock(recording)
    decoded, times, lost = list[Recording](), list[int](), list[Lost]()
    for run in runs:
        try:
            each = decode(run.words, run.spec, clock)
        except UnreadableProfile:
            lost.append(Lost(Loss.UNREADABLE, None, f"on-device profile of {kernel or 'a kernel'}"))
            continue
        if clock is None:
            lost.append(Lost(Loss.NO_CLOCK, len(each.events), f"on-device profile of {kernel or 'a kernel'}"))
        elif len(each.events):
            decoded.append(each)
            times.append(run.time)
    recording = replace(recording, lost=(*recording.lost, *lost))
    places = kernel_places(recording, kernel, [each.device_facts[FACTS]["timer_ns"] for each in decoded], times)
    pairs = list(zip(decoded, places, strict=True))
    for apart in (False, True):
        if part := [(each, place) for each, place in pairs if (place.event == NONE) is apart]:
            recording = _joined(recording, kernel, part)
    return recording


def _clock(recording: Recording) -> float | None:
    """The clock that the profile gives for its GPUs, in hertz; None where it gives none, or several."""
    rates = {facts["clock_rate"] for facts in recording.device_facts.values() if "clock_rate" in facts}
    rate = rates.pop() if len(rates) == 1 else None
    plausible = isinstance(rate, (int, float)) and 1e3 <= rate <= 1e8
    return float(rate) * _KILOHERTZ if plausible and rate is not None else None


def _joined(recording: Recording, kernel: str, runs: Sequence[tuple[Recording, OnDevicePlace]]) -> Recording:
    """The recording with the runs of one kernel, all of them placed or none."""
    home = _Home.of(recording, kernel, runs)
    numbers = Numbering[EventLane]()
    first, parts = len(recording.names), list[Events]()
    names = Numbering[str]()
    for each, place in runs:
        lanes = np.array([numbers[home.lane(lane)] + home.first for lane in each.lanes], np.int32)
        name = np.array([first + names[name] for name in each.names], np.int32)
        parts.append(_moved(each.events, lanes, name, place, recording))
    joined = _concatenated(parts)
    order = np.lexsort((-joined.duration, joined.start, joined.lane))
    split = int(np.searchsorted(recording.events.lane, home.first))
    own = replace(recording.events, lane=_renumbered(recording.events.lane, home.first, len(numbers)))
    before, after = _rows(own, slice(0, split)), _rows(own, slice(split, None))
    return replace(
        recording,
        lanes=(*recording.lanes[: home.first], *numbers, *recording.lanes[home.first :]),
        names=(*recording.names, *names),
        events=_concatenated([before, _rows(joined, order), after]),
        counters=tuple(
            replace(each, lane=each.lane + len(numbers) * (each.lane >= home.first)) for each in recording.counters
        ),
        lost=(*recording.lost, *(lost for each, _ in runs for lost in _lost(each, kernel))),
        total=recording.total + sum(each.total for each, _ in runs),
        details=_JoinedDetails(recording, split, order, tuple(each for each, _ in runs)),
        device_facts={**recording.device_facts, f"{FACTS} {kernel}".strip(): _facts(runs)},
        hosts=recording.hosts if runs[0][1].event != NONE else (*recording.hosts, f"on-device clock of {kernel}"),
    )


@dataclass(frozen=True)
class _Home:
    """Where the lanes of a kernel's ranges belong: the index of the first, and their device, host and group."""

    first: int
    kernel: str
    group: str
    device: int
    host: int

    @classmethod
    def of(cls, recording: Recording, kernel: str, runs: Sequence[tuple[Recording, OnDevicePlace]]) -> _Home:
        place = runs[0][1]
        if place.event == NONE:
            return cls(len(recording.lanes), kernel, "", NONE, len(recording.hosts))
        lane = recording.lanes[int(recording.events.lane[place.event])]
        last = max(number for number, each in enumerate(recording.lanes) if each.group == lane.group)
        return cls(last + 1, kernel, lane.group, lane.device, lane.host)

    def lane(self, lane: EventLane) -> EventLane:
        group = ", ".join(part for part in (self.group, self.kernel, lane.group) if part)
        return replace(lane, group=group, device=self.device, host=self.host)


def _moved(events: Events, lane: Any, name: Any, place: OnDevicePlace, recording: Recording) -> Events:
    """Events in their lanes, on the clock of the recording, as part of their kernel's event."""
    moved = replace(events, start=events.start + place.zero, lane=lane[events.lane], name=name[events.name])
    if place.event == NONE:
        return moved
    kernel, count = recording.events, len(events)
    return replace(
        moved,
        device=np.full(count, kernel.device[place.event], np.int32),
        run=np.full(count, kernel.run[place.event], np.int32),
        correlation=np.full(count, kernel.correlation[place.event], np.int64),
    )


def _renumbered(lane: Any, first: int, count: int) -> Any:
    return (lane + count * (lane >= first)).astype(np.int32)


def _rows(events: Events, rows: Any) -> Events:
    return Events(**{column.name: getattr(events, column.name)[rows] for column in fields(Events)})


def _concatenated(parts: Sequence[Events]) -> Events:
    names = [column.name for column in fields(Events)]
    return Events(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _lost(recording: Recording, kernel: str) -> list[Lost]:
    return [replace(lost, where=", ".join(filter(None, (kernel, lost.where)))) for lost in recording.lost]


def _facts(runs: Sequence[tuple[Recording, OnDevicePlace]]) -> Mapping[str, Any]:
    clocks = {place.clock for _, place in runs}
    worst = [clock for clock in KernelClock if clock in clocks][-1]
    return {**runs[0][0].device_facts[FACTS], "runs": len(runs), "clock": worst}


@dataclass(frozen=True, eq=False)
class _JoinedDetails:
    """The fields of an event: of a range, those of its own recording; of the others, those that they had."""

    recording: Recording
    split: int
    order: Any
    runs: tuple[Recording, ...]

    def __call__(self, event: int) -> Mapping[str, Any]:
        if event < self.split:
            return self.recording.details(event)
        if event >= self.split + len(self.order):
            return self.recording.details(event - len(self.order))
        row = int(self.order[event - self.split])
        for run in self.runs:
            if row < len(run.events):
                return run.details(row)
            row -= len(run.events)
        raise IndexError(event)


@dataclass(frozen=True, eq=False)
class MosaicCapture:
    """One run of a kernel that recorded a profile."""

    words: npt.NDArray[np.uint32] = field(repr=False)
    """The buffer."""
    spec: MosaicSpec
    """What it was recorded with."""
    time: int
    """Unix time in nanoseconds at which it reached the host, which is after the kernel ended."""
    error: str = ""
    """What JAX's own dump of it raised; "" if it did not."""


def captures_of(dumps: Sequence[MosaicDump]) -> list[MosaicCapture]:
    """The buffers that JAX dumped, in the order in which they came."""
    return [
        MosaicCapture(
            dump.words, MosaicSpec.of_jax(dump.spec, dump.grid, dump.block, dump.kernel), dump.time, dump.error
        )
        for dump in dumps
    ]
