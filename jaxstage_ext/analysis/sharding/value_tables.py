"""The arguments, results and intermediates of a program on its devices, as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.propagation import YOU, Propagated
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import MANUAL
from jaxstage_ext.report.table import Column, Table

ARGUMENT, RESULT, INTERMEDIATE = "argument", "result", "intermediate"


@dataclass(frozen=True)
class Place:
    """A device: JAX's id, its host, where its chip is in the torus (None where unknown or without)."""

    id: int
    process: int | None = None
    coords: tuple[int, ...] | None = None
    core: int | None = None

    def __str__(self) -> str:
        at = f" at ({', '.join(map(str, self.coords))})" if self.coords is not None else ""
        return f"device {self.id}{at}" + (f" of host {self.process}" if self.process is not None else "")


@dataclass(frozen=True, eq=False)
class Value:
    """An array of a program on its devices.

    Attributes:
      kind: ARGUMENT, RESULT or INTERMEDIATE.
      chosen_by: "you", "JAX" or "compiler"; None where nobody has chosen yet.
      line: of the user's source, "" where it has none.
      made_by: name of the operation, for intermediates.
    """

    name: str
    kind: str
    map: ShardingMap
    chosen_by: str | None = None
    line: str = ""
    made_by: str = ""

    def __str__(self) -> str:
        from jaxstage_ext.analysis.sharding import sharding_wording

        return sharding_wording.describe(self)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Shardings:
    """How a program's values lie on its devices.

    Attributes:
      values: arguments and results.       places: the devices, in the order of the device assignment.
      meshes: of the program, the one that spans it first.
      notes: what is to be known of the whole.
    """

    values: tuple[Value, ...]
    places: tuple[Place, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    notes: tuple[str, ...] = ()
    _look: Callable[[], tuple[Value, ...]] = field(default=tuple, repr=False)

    @cached_property
    def intermediates(self) -> tuple[Value, ...]:
        """What the program computes on the way, after propagation, in its order; the compiler is asked once.

        Raises what the compile worker does, and ValueError where there is no propagation to look at.
        """
        return self._look()

    @property
    def mesh(self) -> Mesh | None:
        return self.meshes[0] if self.meshes else None

    def __getitem__(self, name: str) -> Value:
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
        """One row an argument or result."""
        return table(self.values, self.notes)

    @cached_property
    def all(self) -> Table:
        """The same with the intermediates. Raises as `intermediates`."""
        return table((*self.values, *self.intermediates), self.notes)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """The table as versioned JSON."""
        return self.table.to_json()

    def figure(self, name: str) -> Any:
        """A plotly figure of which device holds which slice of a value. Raises KeyError as `[]`."""
        from jaxstage_ext.analysis.sharding import value_figure

        return value_figure.figure(self[name], self.places)

    def __str__(self) -> str:
        count = len(self.places) or 1
        head = f"{count:,} device{'s' if count > 1 else ''}, " + (f"mesh {self.mesh}" if self.mesh else "no mesh")
        return f"{head}\n{self.table}"

    __repr__ = __str__


def table(values: Sequence[Value], notes: tuple[str, ...] = ()) -> Table:
    """One row a value."""
    maps = [value.map for value in values]
    columns = {
        "value": Column([value.name for value in values]),
        "kind": Column([value.kind for value in values]),
        "type": Column([_type(one.dtype, one.shape) for one in maps]),
        "sharding": Column([one.sharding.spec if one.sharding.is_known else None for one in maps]),
        "chosen by": Column([value.chosen_by for value in values]),
        "shard": Column([None if one.shard_shape is None else _type(one.dtype, one.shard_shape) for one in maps]),
        "a device": Column([one.shard_bytes for one in maps], "B", "bytes that each device holds"),
        "copies": Column([one.copies for one in maps], "", "devices that hold the same"),
        "padding": Column([_padding(one) for one in maps], "%", "of what is held is no data"),
        "line": Column([value.line for value in values]),
    }
    reasons = {(place, "sharding"): one.sharding.problem for place, one in enumerate(maps) if not one.sharding.is_known}
    return Table("shardings", columns, reasons, notes)


def _type(dtype: str, shape: Sequence[int]) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"


def _padding(one: ShardingMap) -> float:
    return math.nan if one.padding is None else 100 * one.padding


def intermediates(propagated: Propagated) -> tuple[Value, ...]:
    """The values of a module after propagation, in its order."""
    return tuple(
        Value(
            propagated.ops.names[row].decode("utf-8", "replace"),
            INTERMEDIATE,
            propagated.map(row),
            YOU if propagated.sharding(row).shared(MANUAL) > 1 else propagated.chosen_by[row],
            propagated.line(row),
            propagated.names[row] or propagated.ops.opcode[row].decode(),
        )
        for row in propagated.rows.tolist()
    )
