"""How a capture was made, as far as its figures depend on it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.profiling.capture.capture import Capture
from jaxstage_ext.profiling.capture.compile_times import CompileTime
from jaxstage_ext.report.recording import EventKind, Recording

_FEW_OPS, _MANY_RUNS = 3, 10


class FirstRun(enum.Enum):
    """Whether the first run is in the capture, and why."""

    LEFT_OUT = "ran once before"
    ASKED = "the user asked for it"
    DONATES = "a second run would find its arguments donated"
    EFFECTS = "a second run would repeat its side effects"
    UNKNOWN = "Python code may not be safe to run twice"


@dataclass(frozen=True)
class CaptureFacts:
    """How a capture was made."""

    first_run: FirstRun
    """Whether the first run is in it."""
    steps: int
    """How many runs are."""
    seconds: float
    compiling: float = 0.0
    """Seconds in which JAX traced, lowered or compiled."""
    compiled: int = 0
    """How many modules XLA compiled."""
    eager: int = 0
    """How many modules of one to three ops ran, where most of the ops' time is theirs and little goes to compiling; 0
    otherwise."""
    sampled: float | None = None
    """Seconds between two looks at the host's thread; None if it was not sampled."""
    unsampled: float = 0.0
    """Seconds in which nobody could look at it."""
    python: bool = False
    """Whether Python's calls were traced."""
    command_buffers: bool = True
    """Whether XLA could use them."""
    failed: str = ""
    """The name of the error that ended it; "" for none."""


def facts_of(capture: Capture, recording: Recording, first_run: FirstRun, command_buffers: bool = True) -> CaptureFacts:
    """The facts of a capture that has ended."""
    samples = capture.samples
    seconds, compiling = (capture.end - capture.start) / 1e9, _covered(capture.compiled) / 1e9
    return CaptureFacts(
        first_run,
        len(capture.steps),
        seconds,
        compiling=compiling,
        compiled=sum(time.stage == "compile" for time in capture.compiled),
        eager=eager_runs(recording) if 2 * compiling < seconds else 0,
        sampled=seconds / samples.looks if samples is not None and samples.looks else None,
        unsampled=samples.unknown / 1e9 if samples is not None else 0.0,
        python=capture.options.python,
        command_buffers=command_buffers,
        failed=type(capture.error).__name__ if capture.error is not None else "",
    )


def _covered(times: list[CompileTime]) -> int:
    """Nanoseconds that are in at least one of these times."""
    total, until = 0, 0
    for start, end in sorted((time.start, time.end) for time in times):
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def eager_runs(recording: Recording) -> int:
    """How many of JAX's own operations ran each as a module, where they took most of the time of all ops; else 0.

    A function of the user's that XLA fuses into few ops is none: it has the user's name.
    """
    events = recording.events
    ops = (events.run >= 0) & (events.kind != EventKind.MODULE) & (events.op >= 0)
    if not ops.any():
        return 0
    keys = np.stack([events.run[ops], events.device[ops]])
    _, first, run, sizes = np.unique(keys, axis=1, return_index=True, return_inverse=True, return_counts=True)
    time = np.bincount(run.ravel(), events.duration[ops].astype(np.float64))
    is_eager = np.array([*map(_is_operation, (module.name for module in recording.modules)), False], bool)
    small = (sizes <= _FEW_OPS) & is_eager[recording.ops.module[events.op[ops][first]]]
    return int(small.sum()) if small.sum() >= _MANY_RUNS and time[small].sum() > time.sum() / 2 else 0


def _is_operation(module: str) -> bool:
    """Whether a module is one of JAX's operations outside jit, such as "jit_add" and "jit__where", by its name."""
    import jax

    name = module.removeprefix("jit_").lstrip("_")
    return hasattr(jax.numpy, name) or hasattr(jax.lax, f"{name}_p") or hasattr(jax.lax, name)
