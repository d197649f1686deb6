"""How long each device is busy, with what, and how much of its time nothing runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jaxstage_ext.profiling.analysis import intervals
from jaxstage_ext.profiling.analysis.device_work import Activity, DeviceWork, RecordedDevice
from jaxstage_ext.profiling.analysis.intervals import Intervals
from jaxstage_ext.profiling.event_kinds import RUNS_ON
from jaxstage_ext.report.recording import NONE, SECOND, EventKind, Recording
from jaxstage_ext.report.table import Column, Table

Range = tuple[int, int]


@dataclass(frozen=True, eq=False)
class DeviceTime:
    """The time of one device."""

    device: RecordedDevice
    window: Range
    """Start and end in picoseconds; busy and idle time are those within it."""
    work: Intervals
    """The time in which something runs on it."""
    compute: Intervals
    copy: Intervals
    collective: Intervals
    """`compute`, `copy`, `collective`: the time in which work of that sort runs; they may overlap."""
    running: Intervals
    """The time in which a program runs on it, as far as XLA says so beside the events of its work."""
    between: Intervals
    """The time in which a predicted device begins or ends asynchronous work."""
    summed: int
    """The time of each event itself, added up: parallel work counts as often as it runs."""

    @property
    def length(self) -> int:
        """The length of the window."""
        return self.window[1] - self.window[0]

    @cached_property
    def idle(self) -> Intervals:
        """The time in the window in which nothing runs on it."""
        known = intervals.union(
            np.concatenate([self.work.start, self.running.start]), np.concatenate([self.work.end, self.running.end])
        )
        return intervals.complement(known, *self.window)

    @cached_property
    def unrecorded(self) -> Intervals:
        """The time in which a program runs on it and no event says what."""
        return intervals.difference(self.running, self.work)

    @cached_property
    def exposed_copy(self) -> int:
        """The time of copies that no compute hides."""
        return intervals.difference(intervals.difference(self.copy, self.compute), self.between).total

    @cached_property
    def exposed_collective(self) -> int:
        """The time of collectives that no compute hides."""
        return intervals.difference(intervals.difference(self.collective, self.compute), self.between).total

    @property
    def parallelism(self) -> float:
        """How many events run at once while it is busy, on average; NaN where it never is."""
        return self.summed / self.work.total if self.work.total else float("nan")


def read(recording: Recording, work: DeviceWork, given: Range | None = None) -> list[DeviceTime]:
    """The time of each device, within a range or within its window."""
    windows = {host: given or _window(recording, work, host) for host in {device.host for device in work.devices}}
    return [_of(recording, work, number, windows[device.host]) for number, device in enumerate(work.devices)]


def _of(recording: Recording, work: DeviceWork, number: int, window: Range) -> DeviceTime:
    parts = work.parts
    own = work.device[parts.owner] == number
    start, end = np.maximum(parts.start[own], window[0]), np.minimum(parts.end[own], window[1])
    compute, copy, collective = (
        intervals.clipped(work.of(number, activity), *window)
        for activity in (Activity.COMPUTE, Activity.COPY, Activity.COLLECTIVE)
    )
    summed = int(np.maximum(end - start, 0).sum())
    busy = intervals.clipped(work.of(number), *window)
    running = intervals.clipped(_running(recording, work, number), *window)
    return DeviceTime(work.devices[number], window, busy, compute, copy, collective, running, work.between, summed)


def _running(recording: Recording, work: DeviceWork, number: int) -> Intervals:
    """The time in which XLA waits on a device's own threads for what it runs.

    Where a profile does not say on which device, it is the only one of the machine, if there is one alone.
    """
    events, device = recording.events, work.devices[number]
    is_alone = sum(other.host == device.host for other in work.devices) == 1
    named = np.array([name == RUNS_ON for name in recording.names], bool)
    own = np.array([lane.host == device.host for lane in recording.lanes], bool)
    of_device = (events.device == device.ordinal) | (is_alone & (events.device == NONE))
    rows = np.flatnonzero(named[events.name] & own[events.lane] & of_device)
    return intervals.union(events.start[rows], events.end[rows])


def _window(recording: Recording, work: DeviceWork, host: int) -> Range:
    """From the first step to the last where there are steps, else from the first device event to the last.

    The devices of a machine share one window. Work that a host starts in a step may run after it: a window of steps
    of the host lasts until the work ends.
    """
    events, steps = recording.events, _steps(recording, host)
    own = np.array([device.host == host for device in work.devices], bool)[work.device]
    first, last = int(np.min(work.nesting.start[own])), int(np.max(work.nesting.end[own]))
    if not len(steps):
        return first, last
    start, end = int(np.min(events.start[steps])), int(np.max(events.end[steps]))
    on_host = any(recording.lanes[lane].device == NONE for lane in np.unique(events.lane[steps]).tolist())
    return (start, max(end, last)) if on_host else (start, end)


def _steps(recording: Recording, host: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    rows = np.flatnonzero(recording.events.kind == EventKind.STEP)
    hosts = np.array([lane.host for lane in recording.lanes], np.int64)
    return rows[hosts[recording.events.lane[rows]] == host] if len(rows) else rows


def _unrecorded(times: Sequence[DeviceTime]) -> dict[str, tuple[list[int], str]]:
    totals = [time.unrecorded.total for time in times]
    return {"unrecorded": (totals, "in which a program runs and no event says what")} if any(totals) else {}


def table(times: Sequence[DeviceTime]) -> Table:
    """One row a device."""
    seconds = {
        "window": ([time.length for time in times], "from the first step or device event to the last"),
        "busy": ([time.work.total for time in times], "in which something runs on the device"),
        "idle": ([time.idle.total for time in times], "in which nothing does"),
        **_unrecorded(times),
        "compute": ([time.compute.total for time in times], "in which computation runs"),
        "copy": ([time.copy.total for time in times], "in which copies between memories run"),
        "collective": ([time.collective.total for time in times], "in which collectives run"),
        "exposed copy": ([time.exposed_copy for time in times], "of copies that no compute hides"),
        "exposed collective": ([time.exposed_collective for time in times], "of collectives that no compute hides"),
    }
    shares = [time.work.total / time.length if time.length else float("nan") for time in times]
    columns = {"device": Column([time.device.title for time in times])}
    columns |= {name: Column(np.array(values) / SECOND, "s", doc) for name, (values, doc) in seconds.items()}
    columns["busy share"] = Column(shares, "", "of the window, 0 to 1")
    columns["parallelism"] = Column(
        [time.parallelism for time in times], "", "events that run at once while it is busy, on average"
    )
    reasons = {(row, "busy share"): "the window is empty" for row, time in enumerate(times) if not time.length}
    reasons |= {(row, "parallelism"): "nothing ran" for row, time in enumerate(times) if not time.work.total}
    notes = ("Compute, copy and collective time may overlap.",) if times else ("The profile has no device work.",)
    return Table("busy", columns, reasons, notes)
