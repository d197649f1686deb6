"""What a Timing measures, where its times come from, and whether they can be relied upon."""

from __future__ import annotations

from enum import Enum, StrEnum


class TimingMode(StrEnum):
    """The quantity that is measured. Two modes are different quantities and are never compared."""

    KERNELS = "kernels"
    """The sum of the times of the device's kernels, gaps left out; on a CPU, of XLA's ops on all its threads."""
    SPAN = "span"
    """From the start of the first kernel to the end of the last, gaps in."""
    WALL = "wall"
    """The host's clock, from the call until the outputs are ready."""


class TimeSource(StrEnum):
    """Where times come from."""

    HOST_CLOCK = "host clock"
    DEVICE_TRACE = "device trace"
    CPU_TRACE = "CPU trace"
    """The profiler's trace of XLA's ops on the threads of the CPU."""


class Noise(Enum):
    """Why the figures of a Timing cannot be relied upon."""

    NONE = "the median is known within 5%"
    TOO_FEW_RUNS = "fewer than 6 runs"
    WIDE_INTERVAL = "the runs differ too much for their number"
    DRIFT = "later runs are faster or slower than earlier ones"
