"""A layout of a program: a mesh, and how each argument and result is split over its axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

AxisSpec = tuple[tuple[str, ...], ...]
"""Per dimension the mesh axes that split it, the major one first."""


@dataclass(frozen=True)
class ModuleLayout:
    """What a search tries."""

    mesh: Mapping[str, int]
    """Axes and their sizes, in the order of the mesh: the last one's devices are neighbours."""
    arguments: tuple[AxisSpec | None, ...]
    """None of an argument that the compiler shards as it likes."""
    results: tuple[AxisSpec | None, ...] | None = None
    """None where the compiler shards all of them as it likes."""

    def __hash__(self) -> int:
        return hash((tuple(self.mesh.items()), self.arguments, self.results))

    @property
    def devices(self) -> int:
        return math.prod(self.mesh.values())

    def request(self) -> dict[str, Any]:
        """As a worker takes it."""
        return {"mesh": list(self.mesh.items()), "arguments": list(self.arguments), "results": self.results}


def undivided(shape: tuple[int, ...], spec: AxisSpec, mesh: Mapping[str, int]) -> Iterator[tuple[int, int, int]]:
    """(dimension, its size, parts) of each dimension that a spec does not divide, which JAX refuses."""
    for at, names in enumerate(spec):
        parts = math.prod(mesh[name] for name in names)
        if shape[at] % parts:
            yield at, shape[at], parts
