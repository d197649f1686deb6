"""The shardings of a program as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Unpack

from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding import value_chart
from jaxstage_ext.analysis.sharding.device_places import DevicePlace, processes
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue
from jaxstage_ext.analysis.sharding.sharding_map import TOKEN, ShardingMap
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of

PER_PROCESS = "per process"
"""The column that a program of several processes has."""


@dataclass(frozen=True, eq=False)
class Shardings:
    """The shardings of a program's values."""

    values: tuple[ShardedValue, ...]
    """Arguments and results."""
    places: tuple[DevicePlace, ...] = ()
    """The devices, in the order of the device assignment."""
    meshes: tuple[Mesh, ...] = ()
    """The program's meshes, the one that spans all devices first."""
    notes: tuple[str, ...] = ()
    """Remarks on the whole."""
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
        return table(self.values, self.notes, self.places)

    @cached_property
    def all(self) -> Table:
        """One row per argument, result or intermediate. Raises as `intermediates`."""
        return table((*self.values, *self.intermediates), self.notes, self.places)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON; with `limit`, `by` or `where`, rows of it, as `Table.to_json` has them."""
        return self.table.to_json(**rows)

    def figure(self, name: str) -> Any:
        """A plotly figure of the slice of a value that each device holds. Raises KeyError for an unknown name."""
        return value_chart.figure(self[name], self.places)

    def _parts(self) -> list[Part]:
        count = len(self.places) or 1
        several = processes(self.places)
        of = f" of {several:,} processes" if several > 1 else wording.of_another(self.places)
        mesh = f"mesh {self.mesh}" if self.mesh else "no mesh"
        head = f"{count:,} device{'s' if count > 1 else ''}{of}, {mesh}"
        return [head, self.table]

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self._parts())


def table(values: Sequence[ShardedValue], notes: tuple[str, ...] = (), places: Sequence[DevicePlace] = ()) -> Table:
    """One row per value; with what each process holds of it where the devices are of several."""
    maps = [value.map for value in values]
    columns = {
        "value": Column([value.name for value in values]),
        "kind": Column([value.kind.value for value in values]),
        "type": Column([_type(shard_map.dtype, shard_map.shape) for shard_map in maps]),
        "sharding": Column([_spec(value) for value in values]),
        "chosen by": Column([_chooser(value) for value in values]),
        "shard": Column([_shard(value) for value in values]),
        **(_per_process(values, places) if processes(places) > 1 else {}),
        "per device": Column(
            [value.map.shard_bytes if value.is_sent else 0 for value in values], "B", "bytes that each device holds"
        ),
        "copies": Column(
            [value.map.copies if value.is_sent else 0 for value in values], "", "devices that hold the same shard"
        ),
        "padding": Column(
            [_padding(value.map) if value.is_sent else 0.0 for value in values],
            "%",
            "share of the shards that holds no data",
        ),
        "line": Column([value.line for value in values]),
    }
    reasons = {
        (place, column): value.map.sharding.problem
        for place, value in enumerate(values)
        for column in ("sharding", "chosen by")
        if not value.map.sharding.is_known and (value.is_sent or column == "sharding")
    }
    if PER_PROCESS in columns:
        reasons |= {
            (place, PER_PROCESS): value.map.sharding.problem or wording.OTHER_RANK
            for place, value in enumerate(values)
            if value.is_sent and not value.map.fits
        }
    reasons |= {
        (place, "chosen by"): wording.CHOOSER_NOT_KEPT
        for place, value in enumerate(values)
        if value.is_sent and value.map.sharding.is_known and value.chosen_by is None
    }
    return Table("shardings", columns, reasons, notes, adds_up=("per device",))


def _per_process(values: Sequence[ShardedValue], places: Sequence[DevicePlace]) -> dict[str, Column]:
    texts = [wording.per_process(value.map, places) or None if value.is_sent else "" for value in values]
    return {PER_PROCESS: Column(texts, "", "what the devices of one process hold together")}


def _spec(value: ShardedValue) -> str | None:
    if not value.is_sent:
        return wording.NOT_SENT
    return value.map.sharding.shown if value.map.sharding.is_known else None


def _chooser(value: ShardedValue) -> str | None:
    return "" if not value.is_sent else value.chosen_by and value.chosen_by.value


def _shard(value: ShardedValue) -> str | None:
    if not value.is_sent:
        return ""
    return None if value.map.shard_shape is None else _type(value.map.dtype, value.map.shard_shape)


def _type(dtype: str, shape: Sequence[int]) -> str:
    return dtype if dtype == TOKEN else f"{dtype}[{','.join(map(str, shape))}]"


def _padding(shard_map: ShardingMap) -> float:
    return math.nan if shard_map.padding is None else 100 * shard_map.padding
