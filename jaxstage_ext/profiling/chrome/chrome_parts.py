"""What an event of a Chrome trace is, and which part of its thread it belongs to.

PyTorch says in an event's category what it is; JAX writes no categories, and says it in the names of processes and
threads.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Any

from jaxstage_ext.profiling import event_kinds
from jaxstage_ext.profiling.chrome.chrome_processes import Process
from jaxstage_ext.report.recording import EventKind, LaneKind


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
