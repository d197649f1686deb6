"""The memories of a device that a program uses, and how many bytes are live in each over the schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.analysis.memory.buffers import ScheduledBuffers
from jaxstage_ext.ir.hlo.shapes import HOST
from jaxstage_ext.ir.wire.protowire import Longs

DEFAULT = 0
"""XLA's color of the device's own memory."""
_HOST = {HOST: "host memory"}
_NAMES: Mapping[str, Mapping[int, str]] = {
    "cpu": {0: "memory"},
    "tpu": {0: "HBM", 1: "VMEM", 2: "SMEM", **_HOST},
    "cuda": {0: "GPU memory", 1: "collective memory", **_HOST},
}
"""Names of XLA's colors, per platform."""


@dataclass(frozen=True, eq=False)
class Space:
    """One memory of the device."""

    color: int
    name: str
    held: int
    """Bytes that are live for the whole run: arguments, results, constants."""
    reserved: int
    """All bytes allocated."""
    local: int
    """Bytes on threads' stacks or in registers, which the other figures leave out."""
    position: int
    """Where in the schedule most bytes are live."""
    peak: int
    """Live bytes at that position."""


def read(scheduled: ScheduledBuffers, platform: str) -> tuple[Space, ...]:
    """The memories that a module uses, the device's own first; `platform` is "cpu", "tpu" or "cuda"."""
    colors = sorted({DEFAULT, *np.unique(scheduled.assignment.allocations.color).tolist()})
    names = _NAMES.get(platform, {})
    return tuple(_space(scheduled, color, names.get(color, f"memory space {color} (unnamed)")) for color in colors)


def _space(scheduled: ScheduledBuffers, color: int, name: str) -> Space:
    allocations = scheduled.assignment.allocations
    in_space = allocations.color == color
    live = curve(scheduled, color)
    position = int(np.argmax(live)) if len(live) else 0
    held = int(allocations.size[in_space & allocations.held & ~allocations.local].sum())
    reserved = int(allocations.size[in_space & ~allocations.local].sum())
    local = int(allocations.size[in_space & allocations.local].sum())
    return Space(color, name, held, reserved, local, position, int(live[position]) if len(live) else held)


def curve(scheduled: ScheduledBuffers, color: int) -> Longs:
    """The live bytes in one memory at each position of the schedule."""
    buffers, positions = scheduled.buffers, len(scheduled.schedule)
    change = np.zeros(positions + 1, np.int64)
    in_space = buffers.space == color
    np.add.at(change, buffers.start[in_space], buffers.size[in_space])
    np.add.at(change, buffers.end[in_space] + 1, -buffers.size[in_space])
    return np.cumsum(change)[:positions]
