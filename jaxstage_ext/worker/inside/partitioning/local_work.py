"""What one device does in a partitioned module: its collectives, and the work of each operation at its local shapes."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any

from jaxstage_ext.worker.inside.partitioning import neighbours, sharding_specs
from jaxstage_ext.worker.inside.partitioning.explicit_collectives import OUT_SHARDING, CollectiveReader
from jaxstage_ext.worker.inside.partitioning.fused_groups import Counted
from jaxstage_ext.worker.inside.partitioning.local_bytes import local_bytes
from jaxstage_ext.worker.inside.partitioning.module_columns import NUMBER, ModuleColumns, number_of
from jaxstage_ext.worker.inside.partitioning.module_walk import RETURNS, walk
from jaxstage_ext.worker.inside.partitioning.sharding_specs import Spec, SpecReader
from jaxstage_ext.worker.inside.partitioning.value_types import TypeReader

_MANY = 64
"""Operations in a row that are followed."""
_MOVES = ("stablehlo.transpose", "stablehlo.reshape")


class LocalWork:
    """Reads partitioned copies of one module, which has `columns`; `counted` is what operations read and write."""

    def __init__(self, columns: ModuleColumns, counted: Counted) -> None:
        self._columns, self._counted = columns, counted
        self._specs, self._collectives = SpecReader(), CollectiveReader()

    def read(self, main: Any, mesh: Mapping[str, int]) -> dict[str, Any]:
        """{"table", "specs": codes of values, "collectives", "flops", "bytes": per operation} of one layout."""
        return _Reading(self._columns, self._counted, self._specs, self._collectives, mesh).of(main)


class _Reading:
    """One module's reading."""

    def __init__(
        self, columns: ModuleColumns, counted: Counted, specs: SpecReader, collectives: CollectiveReader,
        mesh: Mapping[str, int],
    ) -> None:  # fmt: skip
        self._columns, self._counted, self._reader, self._collectives = columns, counted, specs, collectives
        self._mesh = mesh
        self._known: dict[Any, Spec] = {}
        self._codes: dict[Spec, int] = {}
        self._sizes: dict[tuple[Spec, int], int] = {}
        self._specs = array("i", bytes(4 * len(columns.values)))
        self._flops, self._bytes = (array("d", bytes(8 * len(columns.ops))) for _ in range(2))
        self._sent: list[tuple[str, tuple[str, ...], int, int, int | None]] = []
        self._types = TypeReader()
        self._gathered: set[tuple[Any, tuple[str, ...], int]] = set()

    def of(self, main: Any) -> dict[str, Any]:
        self._code(())
        self._arguments(main)
        returned: Any = ()
        for operation, holder in walk(main.regions[0].blocks[0]):
            if operation.name in RETURNS:
                returned = operation.operands  # at last those of the function
                continue
            if kind := self._collectives.kind(operation):
                self._collective(operation, kind, holder)
            elif NUMBER in operation.attributes:
                self._operation(operation, number_of(operation))
            else:
                self._other(operation)
        return {
            "results": [self._code(self._known.get(value, ())) for value in returned],
            "table": list(self._codes), "specs": self._specs.tobytes(), "collectives": self._sent,
            "flops": self._flops.tobytes(), "bytes": self._bytes.tobytes(),
        }  # fmt: skip

    def _code(self, spec: Spec) -> int:
        return self._codes.setdefault(spec, len(self._codes))

    def _arguments(self, main: Any) -> None:
        attributes = main.attributes["arg_attrs"]
        for argument, given, value in zip(
            main.regions[0].blocks[0].arguments, attributes, self._columns.arguments, strict=True
        ):
            shape = self._columns.values[value][0]
            spec = self._reader.spec(given["sdy.sharding"]) if "sdy.sharding" in given else ((),) * len(shape)
            self._known[argument] = spec
            self._specs[value] = self._code(spec)

    def _operation(self, operation: Any, number: int) -> None:
        op = self._columns.ops[number]
        given = [self._known.get(value) for value in operation.operands]
        specs = self._reader.of_results(operation)
        shapes = [self._columns.values[value][0] for value in op["results"]]
        made: list[Spec] = [((),) * len(shape) for shape in shapes] if specs is None else specs
        for result, spec, value in zip(operation.results, made, op["results"], strict=True):
            self._known[result] = spec
            self._specs[value] = self._code(spec)
        if operation.name == "stablehlo.while":
            self._loop(operation, made, op["results"])
        self._count(number, op, given, made)
        if number in self._columns.windows:
            self._exchange(number, op, given, made)

    def _exchange(self, number: int, op: dict[str, Any], given: list[Spec | None], made: list[Spec]) -> None:
        """What neighbours send each other where a dimension is split that the operation slides over."""
        if not made[0]:
            return
        for axes, size in neighbours.sent(op, self._columns, number, given, made[0], self._mesh):
            self._sent.append(("collective-permute", axes, size, number, op["trips"]))

    def _loop(self, operation: Any, made: list[Spec], results: tuple[int, ...]) -> None:
        """Its regions' arguments are sharded as its results; they follow these in the numbering."""
        at = results[-1] + 1 if results else 0
        for region in operation.regions:
            for argument, spec in zip(region.blocks[0].arguments, made, strict=True):
                self._known[argument] = spec
                self._specs[at] = self._code(spec)
                at += 1

    def _count(self, number: int, op: dict[str, Any], given: list[Spec | None], made: list[Spec]) -> None:
        reads, writes = self._counted[number]
        operands, results = op["operands"], op["results"]
        moved = sum(self._size(operands[place], given[place] or ()) for place in reads)
        self._bytes[number] = moved + sum(self._size(results[place], made[place]) for place in writes)
        if op["flops"]:
            self._flops[number] = op["flops"] / self._split([*given, *made])

    def _split(self, specs: list[Spec | None]) -> int:
        """Over how many devices an operation's own index space is split."""
        names = {name for spec in specs for axes in spec or () for name in axes}
        return math.prod(sharding_specs.axis_size(name, self._mesh) for name in names)

    def _size(self, value: int, spec: Spec) -> int:
        """Bytes of a value on one device."""
        size = self._sizes.get((spec, value))
        if size is None:
            shape, bits, *_ = self._columns.values[value]
            size = self._sizes[spec, value] = local_bytes(shape, bits, spec, self._mesh)
        return size

    def _collective(self, operation: Any, kind: str, holder: Any) -> None:
        taken, given = operation.operands[0], operation.results[0]
        before, after = self._known.get(taken, ()), self._reader.spec(operation.attributes[OUT_SHARDING])
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
        self._sent.append((kind, axes, payload, number, self._columns.trips_inside(inside)))

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
        specs = self._reader.of_results(operation)
        for at, result in enumerate(operation.results):
            if specs is not None:
                self._known[result] = specs[at]
