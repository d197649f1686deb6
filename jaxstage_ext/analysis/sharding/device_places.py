"""Where a device is: its id, its host and its place in the torus."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DevicePlace:
    """A device: JAX's id, its host, and the place of its chip in the torus (None where unknown or without one)."""

    id: int
    process: int | None = None
    coords: tuple[int, ...] | None = None
    core: int | None = None

    def __str__(self) -> str:
        at = f" at ({', '.join(map(str, self.coords))})" if self.coords is not None else ""
        return f"device {self.id}{at}" + (f" of host {self.process}" if self.process is not None else "")
