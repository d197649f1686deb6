"""What one device does in a partitioned module: its collectives, and the work of each operation at its local shapes."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from jaxstage_ext.worker.inside.partitioning import neighbours, sharding_specs
from jaxstage_ext.worker.inside.partitioning.explicit_collectives import CollectiveReader
from jaxstage_ext.worker.inside.partitioning.fused_groups import Counted
from jaxstage_ext.worker.inside.partitioning.local_bytes import local_bytes
from jaxstage_ext.worker.inside.partitioning.module_columns import NUMBER, ModuleColumns
from jaxstage_ext.worker.inside.partitioning.module_walk import RETURNS, walk
from jaxstage_ext.worker.inside.partitioning.sent_collectives import SentCollectives
from jaxstage_ext.worker.inside.partitioning.sharding_specs import Spec, SpecReader

Specs = Sequence[Spec | None]
_UNKNOWN = ("stablehlo.custom_call", "mhlo.topk", "chlo.top_k")


class LocalWork:
    """Reads partitioned copies of one module, which has `columns`; `counted` is what operations read and write."""

    def __init__(self, columns: ModuleColumns, counted: Counted) -> None:
        self.columns, self.counted = columns, counted
        self.specs, self.collectives = SpecReader(), CollectiveReader()
        self.whole = [((),) * len(value[0]) for value in columns.values]
        self.needed = [
            bool(op["flops"] or reads or writes or number in columns.windows or _is_unruled(op))
            for number, (op, (reads, writes)) in enumerate(zip(columns.ops, counted, strict=True))
        ]
        """Whether an operation's own work depends on how its operands are split."""
        self._sizes: dict[tuple[tuple[str, int], ...], dict[tuple[Spec, int], int]] = {}

    def sizes(self, mesh: Mapping[str, int]) -> dict[tuple[Spec, int], int]:
        """What is known of the bytes of values on one device of a mesh."""
        return self._sizes.setdefault(tuple(mesh.items()), {})

    def read(self, main: Any, mesh: Mapping[str, int]) -> dict[str, Any]:
        """{"table", "specs": codes of values, "results": codes, "collectives", "flops", "bytes": per operation}."""
        return _Reading(self, mesh).of(main)


def _is_unruled(op: Mapping[str, Any]) -> bool:
    return op["rule"] is None and op["name"] in _UNKNOWN


class _Reading:
    """One layout's reading."""

    def __init__(self, work: LocalWork, mesh: Mapping[str, int]) -> None:
        self._work, self._columns, self._mesh = work, work.columns, mesh
        self._known: dict[Any, Spec] = {}
        self._codes: dict[Spec, int] = {}
        self._sizes = work.sizes(mesh)
        self._specs = array("i", bytes(4 * len(work.columns.values)))
        self._flops, self._bytes = (array("d", bytes(8 * len(work.columns.ops))) for _ in range(2))
        self._sent = SentCollectives(work.columns, work.collectives, work.specs, mesh, self._known)

    def of(self, main: Any) -> dict[str, Any]:
        self._code(())
        self._arguments(main)
        returned: Any = ()
        for operation, holder in walk(main.regions[0].blocks[0]):
            attributes = operation.attributes
            if NUMBER in attributes:
                self._operation(operation, attributes[NUMBER].value)
            elif operation.name in RETURNS:
                returned = operation.operands  # at last those of the function
            else:
                self._sent.read(operation, holder)
        return {
            "results": [self._code(self._known.get(value, ())) for value in returned],
            "table": list(self._codes), "specs": self._specs.tobytes(), "collectives": self._sent.found,
            "flops": self._flops.tobytes(), "bytes": self._bytes.tobytes(),
        }  # fmt: skip

    def _code(self, spec: Spec) -> int:
        return self._codes.setdefault(spec, len(self._codes))

    def _put(self, value: Any, number: int, spec: Spec) -> None:
        self._known[value] = spec
        self._specs[number] = self._codes.setdefault(spec, len(self._codes))

    def _arguments(self, main: Any) -> None:
        for argument, given, number in zip(
            main.regions[0].blocks[0].arguments, main.attributes["arg_attrs"], self._columns.arguments, strict=True
        ):
            named = "sdy.sharding" in given
            self._put(argument, number, self._work.specs.spec(given["sdy.sharding"]) if named else self._whole(number))

    def _whole(self, number: int) -> Spec:
        return self._work.whole[number]

    def _operation(self, operation: Any, number: int) -> None:
        op = self._columns.ops[number]
        results = op["results"]
        made: Sequence[Spec] = self._work.specs.of_results(operation) or [self._whole(value) for value in results]
        if self._work.needed[number]:
            self._count(number, op, [self._known.get(value) for value in operation.operands], made)
        for result, value, spec in zip(operation.results, results, made, strict=True):
            self._put(result, value, spec)
        if operation.name == "stablehlo.while":
            self._loop(operation, made, results)

    def _loop(self, operation: Any, made: Sequence[Spec], results: tuple[int, ...]) -> None:
        """Its regions' arguments are sharded as its results; they follow these in the numbering."""
        at = results[-1] + 1 if results else 0
        for region in operation.regions:
            for argument, spec in zip(region.blocks[0].arguments, made, strict=True):
                self._put(argument, at, spec)
                at += 1

    def _count(self, number: int, op: dict[str, Any], given: Specs, made: Sequence[Spec]) -> None:
        reads, writes = self._work.counted[number]
        operands, results = op["operands"], op["results"]
        moved = 0
        for place in reads:
            moved += self._size(operands[place], given[place] or ())
        for place in writes:
            moved += self._size(results[place], made[place])
        self._bytes[number] = moved
        if op["flops"]:
            self._flops[number] = op["flops"] / self._split([*given, *made])
        if number in self._columns.windows and made[0]:
            for axes, size in neighbours.sent(op, self._columns, number, given, made[0], self._mesh):
                self._sent.add("collective-permute", axes, size, number, op["trips"])
        if _is_unruled(op):
            self._gather(number, op, given)

    def _gather(self, number: int, op: dict[str, Any], given: Specs) -> None:
        """A call of which Shardy does not know how it splits takes its operands whole."""
        for value, spec in zip(op["operands"], given, strict=True):
            axes = tuple(name for names in spec or () for name in names)
            if axes:
                self._sent.add("all-gather", axes, self._size(value, ()), number, op["trips"])

    def _split(self, specs: Specs) -> int:
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
