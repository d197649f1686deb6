"""The shardings of a program as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jaxstage_ext.analysis.sharding import value_figure
from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.report.table import Column, Table


@dataclass(frozen=True, eq=False)
class Shardings:
    """The shardings of a program's values.

    Attributes:
      values: arguments and results.       places: the devices, in the order of the device assignment.
      meshes: the program's meshes, the one that spans all devices first.    notes: remarks on the whole.
    """

    values: tuple[ShardedValue, ...]
    places: tuple[DevicePlace, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    notes: tuple[str, ...] = ()
    _look: Callable[[], tuple[ShardedValue, ...]] = field(default=tuple, repr=False)

    @cached_property
    def intermediates(self) -> tuple[ShardedValue, ...]:
        """The values that the program computes on the way, after propagation, in order; compiles once more.

        Raises what the compile worker does, and ValueError where there is no propagation.
        """
        return self._look()

    @property
    def mesh(self) -> Mesh | None:
        return self.meshes[0] if self.meshes else None

    def __getitem__(self, name: str) -> ShardedValue:
        """An argument, a result or an intermediate by its name. Raises KeyError."""
        for value in self.values:
            if value.name == name:
                return value
        for value in self.intermediates:
            if value.name == name:
                return value
        raise KeyError(f"{name!r}: there are {', '.join(value.name for value in self.values) or 'no values'}")

    @cached_property
    def table(self) -> Table:
        """One row per argument or result."""
        return table(self.values, self.notes)

    @cached_property
    def all(self) -> Table:
        """One row per argument, result or intermediate. Raises as `intermediates`."""
        return table((*self.values, *self.intermediates), self.notes)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """The table as versioned JSON."""
        return self.table.to_json()

    def figure(self, name: str) -> Any:
        """A plotly figure of the slice of a value that each device holds. Raises KeyError for an unknown name."""
        return value_figure.figure(self[name], self.places)

    def __str__(self) -> str:
        count = len(self.places) or 1
        head = f"{count:,} device{'s' if count > 1 else ''}, " + (f"mesh {self.mesh}" if self.mesh else "no mesh")
        return f"{head}\n{self.table}"

    __repr__ = __str__


def table(values: Sequence[ShardedValue], notes: tuple[str, ...] = ()) -> Table:
    """One row per value."""
    maps = [value.map for value in values]
    columns = {
        "value": Column([value.name for value in values]),
        "kind": Column([value.kind.value for value in values]),
        "type": Column([_type(shard_map.dtype, shard_map.shape) for shard_map in maps]),
        "sharding": Column([shard_map.sharding.spec if shard_map.sharding.is_known else None for shard_map in maps]),
        "chosen by": Column([value.chosen_by and value.chosen_by.value for value in values]),
        "shard": Column(
            [
                None if shard_map.shard_shape is None else _type(shard_map.dtype, shard_map.shard_shape)
                for shard_map in maps
            ]
        ),
        "per device": Column([shard_map.shard_bytes for shard_map in maps], "B", "bytes that each device holds"),
        "copies": Column([shard_map.copies for shard_map in maps], "", "devices that hold the same shard"),
        "padding": Column([_padding(shard_map) for shard_map in maps], "%", "share of the shards that holds no data"),
        "line": Column([value.line for value in values]),
    }
    reasons = {
        (place, "sharding"): shard_map.sharding.problem
        for place, shard_map in enumerate(maps)
        if not shard_map.sharding.is_known
    }
    return Table("shardings", columns, reasons, notes)


def _type(dtype: str, shape: Sequence[int]) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"


def _padding(shard_map: ShardingMap) -> float:
    return math.nan if shard_map.padding is None else 100 * shard_map.padding
