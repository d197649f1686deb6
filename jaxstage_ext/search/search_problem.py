"""What a search of layouts is about: arguments by their named dimensions, devices, and what is fixed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec


class ArgumentRole(Enum):
    """What an argument is to the program."""

    PARAMETER = "parameter"
    """Parameters and optimizer state, which may be stored over an axis."""
    DATA = "data"


class DimensionRole(Enum):
    """What a dimension is to the program, which names the kind of a layout that splits it."""

    BATCH = "batch"
    SPATIAL = "spatial"
    """Of data and of no parameter, but not the batch: time, height, width."""
    EXPERT = "expert"
    MODEL = "model"


@dataclass(frozen=True)
class SearchedArgument:
    """One leaf of the arguments."""

    path: str
    """`params/layers/0/w_up`, the top argument first."""
    shape: tuple[int, ...]
    bits: int
    role: ArgumentRole
    dimensions: tuple[str, ...]
    """Per axis the named dimension that it is of, "" for none."""

    @property
    def bytes(self) -> int:
        return (math.prod(self.shape) * self.bits + 7) // 8

    @property
    def is_parameter(self) -> bool:
        return self.role is ArgumentRole.PARAMETER


@dataclass(frozen=True)
class SearchedDimension:
    """A named dimension."""

    name: str
    role: DimensionRole
    meets: frozenset[str] = frozenset()
    """Those that stand beside it in one operation: no axis can split both there."""


@dataclass(frozen=True)
class SearchLimits:
    """What the user fixes of all layouts."""

    mesh: tuple[tuple[str, int], ...] = ()
    """Axis names and sizes, the slowest first; empty where the search chooses them."""
    names: tuple[str, ...] = ()
    """Axis names that must be in the mesh, because `keep` has them, where `mesh` is empty."""
    keep: Mapping[int, AxisSpec] = field(default_factory=dict)
    """Per leaf the spec that it keeps."""
    replicated: bool = True
    """Whether an axis may be unused."""
    most_axes: int = 3
    most_split: Mapping[str, int] = field(default_factory=dict)
    """Per named dimension the most devices that it is split over; 1: not at all."""


@dataclass(frozen=True)
class SearchProblem:
    """A program to lay out."""

    arguments: tuple[SearchedArgument, ...]
    dimensions: tuple[SearchedDimension, ...]
    devices: int
    twins: Mapping[int, int] = field(default_factory=dict)
    """Leaf of the result -> leaf of the arguments that the next call takes it for, whose spec it gets."""
    results: int = 0
    """Leaves of the result."""
    room: int | None = None
    """Bytes of memory of one device; None where unknown."""
    order_matters: bool = False
    """Whether the first axis of a mesh is slower than the others, as between hosts."""
    limits: SearchLimits = field(default_factory=SearchLimits)

    @cached_property
    def by_name(self) -> Mapping[str, SearchedDimension]:
        return {dimension.name: dimension for dimension in self.dimensions}

    @cached_property
    def smallest_stored(self) -> int:
        """Bytes below which a parameter is never stored over an axis: 1/256 of the largest one's."""
        return max((a.bytes for a in self.arguments if a.is_parameter), default=0) // 256

    def roles(self, names: frozenset[str]) -> frozenset[DimensionRole]:
        """What named dimensions are."""
        return frozenset(self.by_name[name].role for name in names if name in self.by_name)
