"""Where a device is: its id, its process and its place in the torus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class DevicePlace:
    """A device: JAX's id, its process, and the place of its chip in the torus (None where unknown or without one)."""

    id: int
    process: int | None = None
    coords: tuple[int, ...] | None = None
    core: int | None = None

    def within(self, processes: int) -> str:
        """Its id, and its process where there are several: `2048 (process 1)`."""
        return f"{self.id} (process {self.process})" if processes > 1 and self.process is not None else str(self.id)

    def __str__(self) -> str:
        at = f" at ({', '.join(map(str, self.coords))})" if self.coords is not None else ""
        return f"device {self.id}{at}" + (f" of process {self.process}" if self.process is not None else "")


def processes(places: Sequence[DevicePlace]) -> int:
    """How many processes the devices belong to, as far as it is known."""
    return len({place.process for place in places if place.process is not None})
