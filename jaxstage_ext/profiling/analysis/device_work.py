"""The events during which devices are busy: on which device, inside which other, and what sort of work."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis.intervals import Intervals, Pieces, complement, pieces, union, union_by
from jaxstage_ext.profiling.analysis.nesting import Nesting, nest
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.report.recording import DEVICE_WORK, NONE, EventKind, LaneKind, Recording

Numbers = npt.NDArray[np.int64]
NOTHING = Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64))

_HALVES = ("-start", "-done")
_COLLECTIVES = (
    "all-reduce", "all-gather", "all-to-all", "ragged-all-to-all", "reduce-scatter", "collective-permute",
    "collective-broadcast",
)  # fmt: skip
_TRANSFERS = ("infeed", "outfeed", "send", "recv", "copy-start", "copy-done")
_CONTROL = ("while", "conditional", "call", "async")


class Activity(enum.Enum):
    """What sort of work a device does."""

    COMPUTE = "compute"
    COPY = "copy"
    COLLECTIVE = "collective"
    CONTROL = "control flow"
    """The time of a loop, conditional or call that none of the operations inside it takes."""


ACTIVITIES = tuple(Activity)


@dataclass(frozen=True)
class RecordedDevice:
    """A device of a recording; `host` is the machine whose clock its times are from."""

    title: str
    host: int
    ordinal: int


@dataclass(frozen=True, eq=False)
class DeviceWork:
    """The device work of a recording."""

    event: Numbers
    """Index of each into the events of the recording, in their order."""
    devices: tuple[RecordedDevice, ...]
    device: Numbers
    """Index into `devices`."""
    activity: npt.NDArray[np.uint8]
    """Index into `ACTIVITIES`."""
    nesting: Nesting
    """Which of them is inside which, in the lanes."""
    between: Intervals = NOTHING
    """The time in which a predicted device begins or ends asynchronous work, which is no wait for it."""
    of_call: Numbers | None = None
    """Picoseconds that each makes of one predicted call, so that all add up to it; None of what was recorded."""

    def __len__(self) -> int:
        return len(self.event)

    @cached_property
    def parts(self) -> Pieces:
        """The time that each takes itself. That of control flow is without all other work of its device."""
        parts = self.nesting.parts
        is_control = (self.activity == ACTIVITIES.index(Activity.CONTROL))[parts.owner]
        if not is_control.any():
            return parts
        kept = [_rows(parts, ~is_control)]
        for device in np.unique(self.device[parts.owner[is_control]]).tolist():
            own = self.device[parts.owner] == device
            kept.append(_without(_rows(parts, own & is_control), _rows(parts, own & ~is_control)))
        owner, start, end = (np.concatenate(columns) for columns in zip(*kept, strict=True))
        return Pieces(owner, start, end)

    @cached_property
    def self_time(self) -> Numbers:
        """The time that each takes itself, in picoseconds."""
        own = np.bincount(self.parts.owner, self.parts.end - self.parts.start, len(self))
        return np.asarray(np.rint(own), np.int64)

    @cached_property
    def busy_time(self) -> int:
        """The time in which the devices are busy, added up over devices, in picoseconds."""
        covered = union_by(self.device, self.nesting.start, self.nesting.end)
        return int((covered.end - covered.start).sum())

    @cached_property
    def is_parallel(self) -> bool:
        """Whether a device runs several things at once."""
        parts = self.parts
        covered = union_by(self.device[parts.owner], parts.start, parts.end)
        return int((covered.end - covered.start).sum()) < int((parts.end - parts.start).sum())

    def of(self, device: int, activity: Activity | None = None) -> Intervals:
        """The time in which a device works, or does one sort of work."""
        if activity is None:
            mine = self.device == device
            return union(self.nesting.start[mine], self.nesting.end[mine])
        mine = (self.device == device) & (self.activity == ACTIVITIES.index(activity))
        own = _rows(self.parts, mine[self.parts.owner])
        return union(own.start, own.end)


def _rows(parts: Pieces, kept: npt.NDArray[np.bool_]) -> Pieces:
    return Pieces(parts.owner[kept], parts.start[kept], parts.end[kept])


def _without(parts: Pieces, other: Pieces) -> Pieces:
    if not len(parts.start) or not len(other.start):
        return parts
    free = complement(union(other.start, other.end), int(np.min(parts.start)), int(np.max(parts.end)))
    cut = pieces(parts.start, parts.end, free)
    return Pieces(parts.owner[cut.owner], cut.start, cut.end)


def read(recording: Recording, places: OpPlaces) -> DeviceWork:
    """The device work of a recording. Where a device has kernels, its HLO ops are those of the kernels."""
    events = recording.events
    is_work = np.isin(events.kind, DEVICE_WORK) & (events.duration >= 0)
    lane_device = np.array([lane.device for lane in recording.lanes], np.int64)
    of_lane = lane_device[events.lane] if len(recording.lanes) else np.zeros(0, np.int64)
    ordinal = np.where(events.device >= 0, events.device, of_lane)
    shadows = np.array([lane.kind is LaneKind.OPS for lane in recording.lanes], bool)
    if shadows.any() and (is_kernel := events.kind == EventKind.KERNEL).any():
        is_work &= ~(shadows[events.lane] & np.isin(ordinal, np.unique(ordinal[is_kernel])))
    index = np.flatnonzero(is_work)
    devices, number = _devices(recording, events.lane[index], ordinal[index])
    nesting = nest(events.lane[index], events.start[index], events.end[index])
    return DeviceWork(index, devices, number, _activities(recording, places, index), nesting, _between(recording))


def _between(recording: Recording) -> Intervals:
    if recording.prediction is None:
        return NOTHING
    events = recording.events
    computes = np.array([lane.kind is LaneKind.COMPUTE for lane in recording.lanes], bool)
    rows = np.flatnonzero((events.kind == EventKind.OTHER) & (events.duration >= 0))
    rows = rows[computes[events.lane[rows]]] if len(rows) else rows
    return union(events.start[rows], events.end[rows])


def _devices(
    recording: Recording, lane: npt.NDArray[np.int32], ordinal: Numbers
) -> tuple[tuple[RecordedDevice, ...], Numbers]:
    """The devices in the order of host and ordinal, and the number of each event's."""
    hosts = np.array([one.host for one in recording.lanes], np.int64)
    pairs = np.stack([hosts[lane] if len(hosts) else lane.astype(np.int64), ordinal], 1)
    distinct, first, number = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    titles = []
    for (host, device), event in zip(distinct.tolist(), first.tolist(), strict=True):
        own = recording.lanes[lane[event]]
        named = next((one for one in recording.lanes if one.host == host and one.device == device != NONE), own)
        shared = named.device == NONE and int((distinct[:, 0] == host).sum()) > 1
        title = f"{named.group} device {device}" if shared and device != NONE else named.group
        titles.append(f"{recording.hosts[host]} · {title}" if len(recording.hosts) > 1 else title)
    devices = tuple(
        RecordedDevice(title, host, device)
        for title, (host, device) in zip(titles, distinct.tolist(), strict=True)
    )  # fmt: skip
    return devices, number.reshape(-1).astype(np.int64)


def _activities(recording: Recording, places: OpPlaces, index: Numbers) -> npt.NDArray[np.uint8]:
    kind, op = recording.events.kind[index], recording.events.op[index]
    of_op = np.array([ACTIVITIES.index(activity) for activity in op_activities(recording, places)] + [0], np.uint8)
    activity = of_op[op]
    activity[kind == EventKind.COPY] = ACTIVITIES.index(Activity.COPY)
    activity[kind == EventKind.COLLECTIVE] = ACTIVITIES.index(Activity.COLLECTIVE)
    return activity


def op_activities(recording: Recording, places: OpPlaces) -> list[Activity]:
    """What sort of work each HLO instruction is, by its opcode, else by its name."""
    activities = [_activity(category) for category in op_categories(recording, places)]
    for kind, activity in ((EventKind.COPY, Activity.COPY), (EventKind.COLLECTIVE, Activity.COLLECTIVE)):
        for op in np.unique(recording.events.op[recording.events.kind == kind]).tolist():
            if op >= 0 and activities[op] is Activity.CONTROL:  # as of an async-start, which says not what it starts
                activities[op] = activity
    return activities


def op_categories(recording: Recording, places: OpPlaces) -> list[str]:
    """The opcode of each HLO instruction; where it is unknown, the name without its number."""
    known = places.category.tolist()
    names = recording.ops.name
    return [
        places.categories[category] if 0 <= category < len(places.categories) else _without_number(name)
        for category, name in zip(known, names, strict=True)
    ]


def _without_number(name: str) -> str:
    """An instruction's name without what XLA adds to make it unique: "dot.12.clone" is "dot"."""
    stem, _, last = name.rpartition(".")
    while stem and (last.isdecimal() or last == "clone"):
        name = stem
        stem, _, last = name.rpartition(".")
    return name


def _activity(category: str) -> Activity:
    if category in _TRANSFERS:
        return Activity.COPY
    stem = category
    for half in _HALVES:
        stem = stem.removesuffix(half)
    if stem in _COLLECTIVES:
        return Activity.COLLECTIVE
    return Activity.CONTROL if stem in _CONTROL else Activity.COMPUTE
