"""The lanes of a Chrome trace, and what its events are.

PyTorch says in an event's category what it is; JAX writes no categories, and says it in the names of processes and
threads.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling import event_kinds
from jaxstage_ext.profiling.chrome.chrome_columns import Interned, Longs, RawEvents, ordinal
from jaxstage_ext.profiling.chrome.chrome_processes import Process
from jaxstage_ext.profiling.chrome.chrome_spans import Spans
from jaxstage_ext.report.recording import NONE, EventKind, EventLane, LaneKind


class ThreadPart(enum.Enum):
    """The part of a thread that one lane shows; those of one thread would overlap in a single lane."""

    THREAD = "thread"
    OPS = "ops"
    INTERNAL = "internal"
    ASYNC = "asynchronous"
    STREAM = "stream"
    LINE = "line"
    """A line of a TPU: steps, modules, ops, or what repeats them by scope."""
    ANNOTATIONS = "annotations"
    COUNTED = "counted ranges"
    SYNCHRONIZATION = "synchronization"


DEVICE_PARTS = frozenset(
    {ThreadPart.STREAM, ThreadPart.LINE, ThreadPart.ANNOTATIONS, ThreadPart.COUNTED, ThreadPart.SYNCHRONIZATION}
)
LINES = {
    "Steps": (LaneKind.STEPS, EventKind.STEP),
    "XLA Modules": (LaneKind.MODULES, EventKind.MODULE),
    "XLA Ops": (LaneKind.OPS, EventKind.OP),
    "Async XLA Ops": (LaneKind.OPS, EventKind.OP),
}
"""The lines of a TPU in the JSON that JAX writes."""
_REPEATED = frozenset({*LINES, "Framework Ops", "Framework Name Scope", "Source code", "Source Code", "TensorFlow Ops"})
"""The lines that XLA derives from the streams of a GPU: they repeat what the streams show."""
_CATEGORIES = {
    "kernel": (ThreadPart.STREAM, EventKind.KERNEL),
    "gpu_memcpy": (ThreadPart.STREAM, EventKind.COPY),
    "gpu_memset": (ThreadPart.STREAM, EventKind.COPY),
    "memcpy": (ThreadPart.STREAM, EventKind.COPY),
    "memset": (ThreadPart.STREAM, EventKind.COPY),
    "gpu_user_annotation": (ThreadPart.ANNOTATIONS, EventKind.RANGE),
    "cuda_profiler_range": (ThreadPart.COUNTED, EventKind.RANGE),
    "cuda_sync": (ThreadPart.SYNCHRONIZATION, EventKind.WAIT),
    "user_annotation": (ThreadPart.THREAD, EventKind.RANGE),
    "python_function": (ThreadPart.THREAD, EventKind.PYTHON),
    "cpu_op": (ThreadPart.THREAD, EventKind.HOST),
    "operator": (ThreadPart.THREAD, EventKind.HOST),
    "cpu_instant_event": (ThreadPart.THREAD, EventKind.HOST),
    "overhead": (ThreadPart.THREAD, EventKind.HOST),
    "trace": (ThreadPart.THREAD, EventKind.HOST),
}
"""The categories of PyTorch's profiler (Kineto), in lower case as newer versions write them."""
_DRIVER = ("runtime", "driver")
_ACCELERATORS = ("mtia_", "hpu_", "xpu_", "npu_", "privateuse1_")
"""How the categories begin of what other accelerators than CUDA's and ROCm's did."""
_STEP = "ProfilerStep#"


class ChromeThread:
    """The events of one phase and category in one thread."""

    def __init__(self, key: tuple[Any, ...], process: Process) -> None:
        category, self.tid = key[1], key[3]
        self.category = category.lower() if type(category) is str else ""
        self.process, self.name = process, process.threads.get(self.tid, "")

    def part_and_kind(self, name: str) -> tuple[ThreadPart, EventKind]:
        """What an event of this name is."""
        if (known := _CATEGORIES.get(self.category)) is not None:
            return known[0], _refined(known[1], name)
        if self.category.endswith(_DRIVER):
            kind = event_kinds.on_host(name)
            return ThreadPart.THREAD, kind if kind in (EventKind.LAUNCH, EventKind.WAIT) else EventKind.HOST
        if self.process.platform or self.category.startswith(_ACCELERATORS):
            return self._on_device(name)
        if self.category:  # of a tool that says what its events are, whose names are not those of XLA
            return ThreadPart.THREAD, EventKind.HOST
        return ThreadPart.INTERNAL if event_kinds.is_internal(name) else ThreadPart.THREAD, event_kinds.on_host(name)

    def _on_device(self, name: str) -> tuple[ThreadPart, EventKind]:
        if self.category and event_kinds.synchronizes(name):
            return ThreadPart.SYNCHRONIZATION, EventKind.WAIT
        is_line = not self.name.startswith("Stream") if self.process.platform == "TPU" else self.name in _REPEATED
        if not is_line:
            return ThreadPart.STREAM, event_kinds.on_device(name)
        kind = LINES[self.name][1] if self.process.platform == "TPU" and self.name in LINES else EventKind.RANGE
        return ThreadPart.LINE, event_kinds.op_kind(name) if kind == EventKind.OP else kind


def _refined(kind: EventKind, name: str) -> EventKind:
    if kind == EventKind.KERNEL and event_kinds.on_device(name) == EventKind.COLLECTIVE:
        return EventKind.COLLECTIVE
    return EventKind.STEP if kind == EventKind.RANGE and name.startswith(_STEP) else kind


def thread_name(process: Process, tid: Hashable) -> str:
    """What a thread is called."""
    if tid in ("", None):
        return process.threads.get(tid) or "trace"
    return process.threads.get(tid) or (tid if type(tid) is str else f"thread {tid}")


Kinds = npt.NDArray[np.uint8]
LaneId = tuple[Hashable, Hashable, ThreadPart]
"""Process, thread, and the part of it."""
_LANE_ORDER = {kind: number for number, kind in enumerate(LaneKind)}


@dataclass(frozen=True)
class SpanLanes:
    """The lanes, and by span: its lane, kind and device."""

    lanes: tuple[EventLane, ...]
    lane: Longs
    kind: Kinds
    device: Longs


def chrome_lanes(raw: RawEvents, spans: Spans, processes: dict[Hashable, Process]) -> SpanLanes:
    """Puts the events into lanes: devices by their ordinals, then hosts."""
    numbers, key, op = _LaneNumbers(), raw.key[spans.row], raw.op[spans.row]
    lane, kind = _by_key_and_name(raw, key, raw.name[spans.row], processes, numbers)
    on_host = np.array([part not in DEVICE_PARTS for *_, part in numbers.ids], bool)[lane]
    ops = (op != NONE) & on_host
    numbers.move(lane, ops, ThreadPart.OPS)
    kind[ops] = np.array([event_kinds.op_kind(name) for _, name in raw.ops], np.uint8)[op[ops]]
    for number in np.unique(key[spans.is_async]).tolist():
        numbers.move(lane, spans.is_async & (key == number), ThreadPart.ASYNC, str(raw.keys[number][1] or ""))
    made = _made(numbers.ids, processes, lane, kind)
    device = np.array([one.device for one in made], np.int64)[lane]
    device = np.where((device == NONE) & (op != NONE), raw.device[spans.row], device)
    used = np.unique(lane).tolist()
    order = sorted(used, key=lambda n: _order(made[n], n))
    place = np.full(len(made), NONE, np.int64)
    place[order] = np.arange(len(order))
    return SpanLanes(tuple(made[n] for n in order), place[lane], kind, device)


class _LaneNumbers:
    def __init__(self) -> None:
        self.numbers = Interned()

    @property
    def ids(self) -> list[LaneId]:
        return list(self.numbers)  # type: ignore[arg-type]

    def move(self, lane: Longs, chosen: npt.NDArray[np.bool_], part: ThreadPart, thread: str | None = None) -> None:
        """Put the chosen spans of each lane into another part of its thread, or into a thread of the same process."""
        ids = self.ids
        for old in np.unique(lane[chosen]).tolist():
            pid, tid, _ = ids[old]
            lane[chosen & (lane == old)] = self.numbers[(pid, tid if thread is None else thread, part)]


def _by_key_and_name(
    raw: RawEvents, key: Longs, name: Longs, processes: dict[Hashable, Process], numbers: _LaneNumbers
) -> tuple[Longs, Kinds]:
    """The lane and kind of each span. A thread has few distinct names, each of which is looked at once."""
    pairs, which = np.unique(key * max(1, len(raw.names)) + name, return_inverse=True)
    threads = [ChromeThread(key, processes[key[2]]) for key in raw.keys]
    lanes, kinds = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.uint8)
    for row, pair in enumerate(pairs.tolist()):
        thread, text = divmod(pair, len(raw.names))
        part, kinds[row] = threads[thread].part_and_kind(raw.names[text])
        lanes[row] = numbers.numbers[(*raw.keys[thread][2:], part)]
    return lanes[which], kinds[which]


def _made(ids: list[LaneId], processes: dict[Hashable, Process], lane: Longs, kind: Kinds) -> list[EventLane]:
    kinds = len(EventKind)
    counts = np.bincount(lane * kinds + kind, minlength=len(ids) * kinds).reshape(len(ids), kinds)
    return [_lane(pid, tid, part, processes[pid], of) for (pid, tid, part), of in zip(ids, counts, strict=True)]


def _order(lane: EventLane, number: int) -> tuple[bool, int, bool, str, int, int]:
    return lane.device == NONE, lane.device, lane.group != "CPU", lane.group, _LANE_ORDER[lane.kind], number


def _lane(pid: Hashable, tid: Hashable, part: ThreadPart, process: Process, counts: Longs) -> EventLane:
    name, group = thread_name(process, tid), "host" if process.platform else process.group
    match part:
        case ThreadPart.OPS:
            return EventLane("CPU", name, LaneKind.OPS)
        case ThreadPart.INTERNAL:
            return EventLane(group, f"{name} (internal)", LaneKind.HOST, hidden=True)
        case ThreadPart.ASYNC:
            return EventLane(group, f"{tid} (asynchronous)" if tid else "asynchronous", LaneKind.HOST)
        case ThreadPart.THREAD:
            is_python = name.startswith("python") or counts[EventKind.PYTHON] > counts.sum() / 2
            return EventLane(group, name, LaneKind.PYTHON if is_python else LaneKind.HOST)
    return _device_lane(name, part, process if process.platform else Process("", "GPU", ordinal(pid)), counts)


def _device_lane(name: str, part: ThreadPart, device: Process, counts: Longs) -> EventLane:
    name = name.replace("(", " (").replace("  (", " (")
    name = name[:1].upper() + name[1:]
    match part:
        case ThreadPart.STREAM:
            return EventLane(device.group, name, _stream_kind(counts), device.device)
        case ThreadPart.LINE:
            kind = LINES[name][0] if device.platform == "TPU" and name in LINES else LaneKind.HOST
            return EventLane(device.group, name, kind, device.device, hidden=kind == LaneKind.HOST)
    kinds = {ThreadPart.ANNOTATIONS: LaneKind.STEPS, ThreadPart.COUNTED: LaneKind.COUNTED}
    return EventLane(device.group, f"{name} ({part.value})", kinds.get(part, LaneKind.HOST), device.device)


def _stream_kind(counts: Longs) -> LaneKind:
    for kind, lane in ((EventKind.COPY, LaneKind.COPY), (EventKind.COLLECTIVE, LaneKind.COLLECTIVE)):
        if counts[kind] > counts.sum() / 2:
            return lane
    return LaneKind.COMPUTE
