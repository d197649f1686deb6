"""What a profiler recorded, or a compiler predicted: events in lanes, as columns.

Readers (`profiling/`) make a `Recording` of a profile, whatever its format; analyses, forms and the panel read it.
Times are whole picoseconds since the recording's origin, so that nothing is lost in a float: a 64-bit count of
picoseconds lasts for 106 days. `Recording.unit` names the one exception.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.report.clock_skew import ClockSkew, NoSkew
from jaxstage_ext.report.prediction import Prediction

Picoseconds = npt.NDArray[np.int64]
Index = npt.NDArray[np.int32]
NONE = -1
"""In a column of indices: there is none."""
SECOND, NANOSECOND = 10**12, 10**3
"""In picoseconds."""


class EventKind(enum.IntEnum):
    """What an event is."""

    OTHER = 0
    OP = 1
    """An HLO instruction that runs on a device; on a CPU, a thunk on one of XLA's threads."""
    KERNEL = 2
    """A kernel on a device's stream; it may have an HLO instruction or none."""
    COPY = 3
    """A transfer between memories: host to device, device to host, device to device; memset too."""
    COLLECTIVE = 4
    """A kernel or op that exchanges data between devices."""
    MODULE = 5
    """One execution of a whole XLA module."""
    STEP = 6
    """A step of the user's loop, by an annotation or by `-n`."""
    HOST = 7
    """What the runtime did on a host thread."""
    PYTHON = 8
    """A Python function or line on the host, traced or sampled."""
    COMPILE = 9
    """Tracing, lowering or compiling on the host."""
    LAUNCH = 10
    """A call on the host that starts work on a device, such as cuLaunchKernel."""
    WAIT = 11
    """A host thread that waits for a device, another thread or a transfer."""
    RANGE = 12
    """A range that a kernel recorded on the device, or that the user named (NVTX, TraceAnnotation)."""


DEVICE_WORK = (EventKind.OP, EventKind.KERNEL, EventKind.COPY, EventKind.COLLECTIVE)
"""The kinds during which a device is busy."""


class LaneKind(enum.StrEnum):
    """What a lane has, in the order in which the lanes of one device or host are shown."""

    STEPS = "steps"
    MODULES = "modules"
    OPS = "ops"
    COMPUTE = "compute"
    COPY = "copy"
    COLLECTIVE = "collective"
    ON_DEVICE = "on device"
    """Ranges that one warp or warpgroup of a kernel recorded."""
    COUNTED = "counted ranges"
    """Ranges for which a profiler read a device's hardware counters."""
    PYTHON = "python"
    HOST = "host"
    COUNTER = "counter"


class TimeUnit(enum.StrEnum):
    """What the times of a recording count."""

    PICOSECOND = "ps"
    CYCLE = "cycles"
    """Of a clock whose frequency nobody gave."""


class HostClocks(enum.Enum):
    """By which clock the times of several hosts, or processes, in one recording are."""

    OWN = "own"
    """Each host's time 0 is its own start, so that times of two are not compared."""
    WALL = "wall"
    """Each host's wall clock, from the start of the first profile on; how far these differ is unknown."""
    ONE_MACHINE = "one machine"
    """The wall clock of the one machine that all are on."""
    COLLECTIVES = "collectives"
    """That of process 0: others are aligned by the collectives that all left together."""


class Loss(enum.StrEnum):
    """Why events of a profile are missing or uncertain."""

    DROPPED = "the profiler dropped them"
    CUT = "beyond the limit of events"
    UNREADABLE = "unreadable"
    NEGATIVE = "a negative duration or a start before the recording; shown with duration 0"
    UNMATCHED = "a begin without its end; closed where the event around it or its lane ends"
    BACKWARDS = "the clock went backwards; shown in the order recorded"
    OVERLAPPING = "overlap their neighbours without nesting; shown side by side"
    OVERFULL = "the on-device buffer was full"
    NO_CLOCK = "in cycles of a clock whose frequency is unknown; left out"
    CYCLES_AS_TIME = "JAX wrote clock cycles as nanoseconds; durations are cycles, and starts mix both"
    UNFINISHED = "of programs that still ran when the recording ended; wait for their results in what is profiled"
    UNKNOWN_NAME = "names that the profile does not define"


@dataclass(frozen=True)
class Lost:
    """Events that are missing or uncertain.

    Attributes:
      count: how many; None where the profile does not say.    where: the lane or file, "" for the whole recording.
    """

    loss: Loss
    count: int | None
    where: str = ""


@dataclass(frozen=True)
class EventLane:
    """One row of events in a recording: a stream, a host thread, a warpgroup.

    Attributes:
      group: the device or process that it belongs to, as shown: "GPU 0 (H100)", "CPU", "host".
      name: its own name: "Stream #13 (compute)", "tf_XLAEigen/123".
      device: ordinal of the device that all its events run on; NONE for host threads, and for the threads of a CPU,
        which serve several devices (see `Events.device`).
      host: index of the machine whose clock its times are from; times of two hosts are not compared.
      hidden: whether it is hidden at first, such as threads that only wait.
    """

    group: str
    name: str
    kind: LaneKind
    device: int = NONE
    host: int = 0
    hidden: bool = False


@dataclass(frozen=True, eq=False)
class Events:
    """The events of a recording, sorted by lane, then start, then longest first. All columns have the same length.

    Attributes:
      start, duration: in picoseconds; an instant has duration 0.
      lane: index into `Recording.lanes`.    name: index into `Recording.names`.    kind: an `EventKind`.
      op: index into `Recording.ops`, the HLO instruction that it runs; NONE where the profile names none.
      device: ordinal of the device that it runs on; NONE for the host.
      run: number of the module execution that it belongs to, counted from 0; NONE where unknown.
      correlation: joins a launch on the host with its work on the device; 0 for none.
    """

    start: Picoseconds
    duration: Picoseconds
    lane: Index
    name: Index
    kind: npt.NDArray[np.uint8]
    op: Index
    device: Index
    run: Index
    correlation: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def end(self) -> Picoseconds:
        """Where each event ends."""
        return self.start + self.duration


@dataclass(frozen=True, eq=False)
class Ops:
    """The HLO instructions that events refer to: index into `Recording.modules`, and the instruction's name."""

    module: Index
    name: tuple[str, ...]
    by_order: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    """Which of them the profile does not name: they follow from the order of kernels in a command buffer. Empty for
    none."""

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_by_order(self) -> npt.NDArray[np.bool_]:
        """`by_order` of each of them."""
        return self.by_order if len(self.by_order) else np.zeros(len(self), bool)


@dataclass(frozen=True)
class RecordedModule:
    """An XLA module that ran.

    Attributes:
      name: "jit_step".    program: the number that the profile gives it, "" where it gives none.
      proto: reads the serialized HloModuleProto that the profile holds; None where it holds none.
    """

    name: str
    program: str = ""
    proto: Callable[[], bytes] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class CounterSeries:
    """A quantity that was sampled: power, memory, a performance counter. `lane` is its own lane."""

    lane: int
    name: str
    time: Picoseconds
    value: npt.NDArray[np.float64]
    unit: str = ""


@dataclass(frozen=True)
class HostLine:
    """The line of Python that a host event stands for: its file as Python names it, the line from 1, its function.

    `code` is the text of the line when it was recorded, without indentation; "" unknown.
    """

    file: str
    line: int
    function: str
    code: str = ""


def _no_details(event: int) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class Recording:
    """What a profiler recorded.

    Attributes:
      title: what was profiled: the call, or the name of the file.
      format: "xplane", "chrome", "mosaic".
      origin: Unix time in nanoseconds of time 0; None where the profile does not say.
      total: events that the profile holds, those left out of `events` among them.
      details: the profile's own fields of an event, by its index: read when asked for, never trusted.
      device_facts: what the profile says of its devices, by group: "clock_rate", "memory_bandwidth", ...
      hosts: names of the machines, or of the processes, by `EventLane.host`.
      clocks: by which clock their times are where several profiles were put together; None of a single profile.
      skews: how the clocks of processes differ from that of process 0, by their collectives; () where that is unknown.
      no_skew: why it is, where the profiles of several processes were put together.
      host_lines: what line of Python an event of kind PYTHON stands for, by index into `names`.
      prediction: what it rests on where nothing ran and its times are estimates; None of what was recorded.
      unit: what its times count: picoseconds, but for an on-device profile of an unknown clock.
    """

    title: str
    format: str
    lanes: tuple[EventLane, ...]
    names: tuple[str, ...]
    events: Events
    ops: Ops
    modules: tuple[RecordedModule, ...] = ()
    counters: tuple[CounterSeries, ...] = ()
    lost: tuple[Lost, ...] = ()
    origin: int | None = None
    total: int = 0
    details: Callable[[int], Mapping[str, Any]] = field(default=_no_details, repr=False)
    device_facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    hosts: tuple[str, ...] = ("",)
    clocks: HostClocks | None = None
    skews: tuple[ClockSkew, ...] = ()
    no_skew: NoSkew | None = None
    host_lines: Mapping[int, HostLine] = field(default_factory=dict)
    unit: TimeUnit = TimeUnit.PICOSECOND
    prediction: Prediction | None = None
