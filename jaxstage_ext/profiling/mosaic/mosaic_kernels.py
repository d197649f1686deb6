"""Which event of a profile is the kernel that an on-device profile was recorded in, and how their clocks stand."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.profiling.mosaic.mosaic_buffer import Flags, Whole
from jaxstage_ext.profiling.mosaic.mosaic_clock import WRAP
from jaxstage_ext.report.recording import DEVICE_WORK, NANOSECOND, NONE, Recording

_SLACK = 50_000
"""Nanoseconds by which the global timer and the profile's clock may differ and still be the same clock."""


class KernelClock(enum.StrEnum):
    """How the times of an on-device profile were placed in the profile of the run."""

    GLOBAL_TIMER = "the GPU's global timer is the profile's clock"
    KERNEL_START = "the clocks differ; the first range is placed where the kernel starts"
    APART = "the profile does not have the kernel; on a clock of its own"


@dataclass(frozen=True)
class OnDevicePlace:
    """Where an on-device profile belongs: the event of its kernel, NONE for none, and the time of its own time 0."""

    event: int
    clock: KernelClock
    zero: int


def kernel_places(
    recording: Recording, kernel: str, timers: Sequence[int], times: Sequence[int]
) -> list[OnDevicePlace]:
    """The place of each run of a kernel.

    A run belongs to the kernel's event during which the timer says that it began. Where the clocks differ, the runs
    belong to the events in their order, if there are as many of both.

    Args:
      recording: the profile of the run.
      kernel: its name, as JAX names the file of its profile.
      timers: of each run, the low 32 bits of the global timer in nanoseconds at which it began.
      times: of each run, Unix time in nanoseconds at which its profile reached the host.
    """
    events = np.flatnonzero(_is_kernel(recording, kernel))
    events = events[np.argsort(recording.events.start[events], kind="stable")]
    left, by_timer = events, list[OnDevicePlace | None]()
    for timer in timers:
        place = _by_timer(recording, left, timer)
        left = left if place is None else left[left != place.event]
        by_timer.append(place)
    if len(events) == len(timers) and None in by_timer:
        starts = recording.events.start[events].tolist()
        pairs = zip(events.tolist(), starts, strict=True)
        return [OnDevicePlace(event, KernelClock.KERNEL_START, start) for event, start in pairs]
    zeros = _apart(timers, times)
    return [place or OnDevicePlace(NONE, KernelClock.APART, zero) for place, zero in zip(by_timer, zeros, strict=True)]


def _apart(timers: Sequence[int], times: Sequence[int]) -> list[int]:
    """When each run began after the first, in picoseconds, by the timer; the host's clock counts its turns."""
    after = [(timer - timers[0]) % WRAP for timer in timers]
    turns = [round((time - times[0] - ahead) / WRAP) for time, ahead in zip(times, after, strict=True)]
    return [(ahead + max(0, turn) * WRAP) * NANOSECOND for ahead, turn in zip(after, turns, strict=True)]


def _is_kernel(recording: Recording, kernel: str) -> Flags:
    """Which events run the kernel. Mosaic GPU names it `<kernel>_mosaic_gpu`, with `_kernel` behind it."""
    full = f"{kernel}_mosaic_gpu"
    by_name = np.array(
        [full in name or (kernel != "" and name.split("(")[0].strip() == kernel) for name in recording.names], bool
    )
    on_device = np.isin(recording.events.kind, DEVICE_WORK) & (recording.events.device >= 0)
    return np.asarray(on_device & np.append(by_name, False)[recording.events.name])


def _by_timer(recording: Recording, events: Whole, timer: int) -> OnDevicePlace | None:
    if recording.origin is None or not len(events):
        return None
    start, duration = recording.events.start[events], recording.events.duration[events]
    began = recording.origin + start // NANOSECOND
    after = (timer - began + WRAP // 2) % WRAP - WRAP // 2
    fits = np.flatnonzero((after >= -_SLACK) & (after <= duration // NANOSECOND + _SLACK))
    if not len(fits):
        return None
    nearest = int(fits[np.argmin(np.abs(after[fits]))])
    zero = int(start[nearest]) + int(after[nearest]) * NANOSECOND
    return OnDevicePlace(int(events[nearest]), KernelClock.GLOBAL_TIMER, zero)
