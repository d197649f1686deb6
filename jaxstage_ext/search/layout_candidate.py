"""A candidate of the search: a mesh, and what each of its axes does."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MeshAxis:
    """One axis of a candidate's mesh."""

    name: str
    size: int
    splits: frozenset[str] = frozenset()
    """The named dimensions that it splits, in every argument that has them."""
    stores: bool = False
    """Whether parameters are stored over it too: the largest dimension of each that it divides (FSDP)."""
    follows: tuple[str, ...] = field(default=(), compare=False)
    """Where it splits no data, the dimensions that it splits besides because parameters are stored so."""

    @property
    def is_unused(self) -> bool:
        """Whether its devices all hold and compute the same."""
        return not self.splits and not self.stores

    @property
    def divides(self) -> tuple[str, ...]:
        """All named dimensions that it splits, also those that follow what is stored."""
        return (*sorted(self.splits), *self.follows)

    def __str__(self) -> str:
        return f"{self.name}={self.size}"


@dataclass(frozen=True)
class LayoutCandidate:
    """A mesh, the slowest axis first, and what its axes do. One of no axes replicates all on one device."""

    axes: tuple[MeshAxis, ...]

    @property
    def mesh(self) -> dict[str, int]:
        """Axis sizes by name, the slowest first."""
        return {axis.name: axis.size for axis in self.axes}

    @property
    def devices(self) -> int:
        return math.prod(axis.size for axis in self.axes)

    def axes_of(self, dimension: str) -> tuple[MeshAxis, ...]:
        """The axes that split a named dimension, the slowest first."""
        return tuple(axis for axis in self.axes if dimension in axis.splits)

    @property
    def storing(self) -> tuple[MeshAxis, ...]:
        """The axes that parameters are stored over."""
        return tuple(axis for axis in self.axes if axis.stores)

    def __str__(self) -> str:
        """`data=4: batch; model=2: heads, hidden, parameters`."""
        return "; ".join(f"{axis}: {_uses(axis)}" for axis in self.axes)


def _uses(axis: MeshAxis) -> str:
    return ", ".join([*sorted(axis.splits), *(["parameters"] if axis.stores else [])]) or "unused"
