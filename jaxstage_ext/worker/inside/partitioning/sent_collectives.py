"""The collectives of one layout: kind, axes, bytes, and the operation of the module that each is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxstage_ext.worker.inside.partitioning.explicit_collectives import OUT_SHARDING, CollectiveReader
from jaxstage_ext.worker.inside.partitioning.local_bytes import local_bytes
from jaxstage_ext.worker.inside.partitioning.module_columns import NUMBER, ModuleColumns, number_of
from jaxstage_ext.worker.inside.partitioning.module_walk import RETURNS
from jaxstage_ext.worker.inside.partitioning.sharding_specs import Spec, SpecReader
from jaxstage_ext.worker.inside.partitioning.value_types import TypeReader

_MANY = 64
"""Operations in a row that are followed."""
_MOVES = ("stablehlo.transpose", "stablehlo.reshape")


class SentCollectives:
    """Reads what Shardy has put between a module's own operations; `known` are the specs of values so far."""

    def __init__(
        self, columns: ModuleColumns, collectives: CollectiveReader, specs: SpecReader, mesh: Mapping[str, int],
        known: dict[Any, Spec],
    ) -> None:  # fmt: skip
        self._columns, self._collectives, self._specs = columns, collectives, specs
        self._mesh, self._known, self._types = mesh, known, TypeReader()
        self._gathered: set[tuple[Any, tuple[str, ...], int]] = set()
        self.found: list[tuple[str, tuple[str, ...], int, int, int | None]] = []
        """(kind, axes, bytes, operation, trips)."""

    def read(self, operation: Any, holder: Any) -> None:
        """Note an operation that the module did not have; `holder` is the loop or branch around it."""
        kind = self._collectives.kind(operation)
        if not kind:
            self._other(operation)
            return
        taken, given = operation.operands[0], operation.results[0]
        before, after = self._known.get(taken, ()), self._specs.spec(operation.attributes[OUT_SHARDING])
        self._known[given] = after
        if kind == "slice":
            return
        axes = self._collectives.axes(operation)
        if kind == "all-reduce" and self._is_scattered(given, axes):
            kind = "reduce-scatter"
        shape, bits, _ = self._types.read(given)
        payload = local_bytes(shape, bits, after if kind == "all-gather" else before, self._mesh)
        if kind == "all-gather" and self._is_gathered(taken, axes, payload):
            return
        number = self._number(operation, first_user=kind not in ("all-reduce", "reduce-scatter"))
        inside = number_of(holder) if holder is not None else None
        self.add(kind, axes, payload, number, self._columns.trips_inside(inside))

    def add(self, kind: str, axes: tuple[str, ...], size: int, op: int, trips: int | None) -> None:
        """Note a collective of so many bytes."""
        self.found.append((kind, axes, size, op, trips))

    def _is_gathered(self, taken: Any, axes: tuple[str, ...], payload: int) -> bool:
        """Whether the same value, perhaps transposed, was gathered before: XLA gathers it once, whoever reads it."""
        for _ in range(_MANY):
            if getattr(taken.owner, "name", "") not in _MOVES:
                break
            taken = taken.owner.operands[0]
        key = (taken, axes, payload)
        if key in self._gathered:
            return True
        self._gathered.add(key)
        return False

    def _is_scattered(self, reduced: Any, axes: tuple[str, ...]) -> bool:
        """Whether of what is reduced each device keeps only its own slice."""
        users = [use.owner for use in reduced.uses]
        return (
            len(users) == 1
            and self._collectives.kind(users[0]) == "slice"
            and set(axes) <= set(self._collectives.axes(users[0]))
        )

    def _number(self, operation: Any, first_user: bool) -> int:
        """The operation that a collective is for: the first that takes what it gives, or that made what it takes."""
        found = self._taker(operation) if first_user else None
        return self._maker(operation) if found is None else found

    def _taker(self, operation: Any) -> int | None:
        for _ in range(_MANY):
            owner = next((use.owner for use in operation.results[0].uses), None)
            if owner is None or NUMBER in owner.attributes:
                return None if owner is None else number_of(owner)
            if owner.name in RETURNS:
                return None
            operation = owner
        return None

    def _maker(self, operation: Any) -> int:
        from jaxlib.mlir import ir

        for _ in range(_MANY):
            owner = operation.operands[0].owner
            if isinstance(owner, ir.Block):
                return -1
            if NUMBER in owner.attributes:
                return number_of(owner)
            operation = owner
        return -1

    def _other(self, operation: Any) -> None:
        specs = self._specs.of_results(operation)
        for at, result in enumerate(operation.results):
            if specs is not None:
                self._known[result] = specs[at]
