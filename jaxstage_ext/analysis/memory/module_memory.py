"""The memory of a module, of what its compile left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.memory import spaces
from jaxstage_ext.analysis.memory.buffers import ScheduledBuffers
from jaxstage_ext.analysis.memory.entry_values import EntryComputation
from jaxstage_ext.analysis.memory.fit import DeviceMemory
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.analysis.memory.memory_tables import Kept


def read(
    scheduled: ScheduledBuffers, places: Places, platform: str, device: DeviceMemory, stats: Mapping[str, int],
    entry: EntryComputation | None, error: str | None = None, notes: tuple[str, ...] = (),
    kept: Callable[[Any], Sequence[Kept]] | None = None, allocated: int | None = None,
) -> Memory:  # fmt: skip
    """The memory of a module; `platform` is "cpu", "tpu" or "cuda"."""
    return Memory(
        scheduled, places, platform, device, spaces.read(scheduled, platform), stats, entry, error, notes, kept,
        allocated,
    )  # fmt: skip
