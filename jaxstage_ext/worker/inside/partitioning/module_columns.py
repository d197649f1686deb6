"""What a module is made of, as plain data: values, operations with their rules, and what regions tie."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.worker.inside.partitioning import loop_trips, op_flops, read_windows, traced_at
from jaxstage_ext.worker.inside.partitioning.module_walk import RETURNS, WITH_REGIONS, walk
from jaxstage_ext.worker.inside.partitioning.read_windows import Window
from jaxstage_ext.worker.inside.partitioning.sharding_rules import RuleReader
from jaxstage_ext.worker.inside.partitioning.user_constraints import target
from jaxstage_ext.worker.inside.partitioning.value_types import TypeReader

NUMBER = "jaxstage.op"
"""The attribute that keeps an operation's number through the passes."""
REVERSE = "stablehlo.reverse"
_CONSTANTS = ("stablehlo.constant", "sdy.constant", "stablehlo.iota")

_SAME = ("sdy.sharding_constraint", "stablehlo.optimization_barrier")
"""Operations that give what they take."""


@dataclass
class ModuleColumns:
    """Numbers values and operations in the order in which `module_walk.walk` meets them."""

    values: list[tuple[tuple[int, ...], int, bool, str]] = field(default_factory=list)
    """(shape, bits of an element, whether it comes from constants alone, dtype)."""
    ops: list[dict[str, Any]] = field(default_factory=list)
    ties: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of values that are one across the border of a region."""
    arguments: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    windows: dict[int, list[Window]] = field(default_factory=dict)
    """Per operation that may read beyond its own shard how it does."""
    _known: dict[Any, int] = field(default_factory=dict)
    _rules: RuleReader = field(default_factory=RuleReader)
    _types: TypeReader = field(default_factory=TypeReader)

    def value(self, value: Any) -> int:
        """The number of a value that is known."""
        return self._known[value]

    def read(self, main: Any) -> None:
        """Read a function whose operations have rules, and number its operations by an attribute."""
        block = main.regions[0].blocks[0]
        self.arguments = [self._add(argument, False) for argument in block.arguments]
        for operation, holder in walk(block):
            if operation.name in RETURNS:
                self._tie_returned(operation, holder)
            else:
                self._add_op(operation, holder)

    def _add(self, value: Any, constant: bool) -> int:
        number = self._known[value] = len(self.values)
        shape, bits, dtype = self._types.read(value)
        self.values.append((shape, bits, constant, dtype))
        return number

    def _add_op(self, operation: Any, holder: Any) -> None:
        from jaxlib.mlir import ir

        number = len(self.ops)
        operation.attributes[NUMBER] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)
        operands = [self._known[value] for value in operation.operands]
        constant = operation.name in _CONSTANTS or (
            bool(operands) and operation.name not in WITH_REGIONS and all(self.values[at][2] for at in operands)
        )
        results = [self._add(result, constant) for result in operation.results]
        rule = self._rules.rule(operation)
        shapes = [self.values[at][0] for at in (*operands, *results)]
        scope, frames = traced_at.place(operation)
        parent = number_of(holder) if holder is not None else None
        self.ops.append(
            {
                "name": operation.name, "operands": tuple(operands), "results": tuple(results), "rule": rule,
                "scope": scope, "frames": frames, "parent": parent,
                "trips": self.trips_inside(parent), "flops": op_flops.flops(operation, rule, shapes),
                "precision": op_flops.precision(operation),
                "reversed": read_windows.reversed_dimensions(operation),
                "target": target(operation) if operation.name == "stablehlo.custom_call" else "",
            }
        )  # fmt: skip
        if (found := read_windows.windows(operation, shapes)) or operation.name == REVERSE:
            self.windows[number] = found
        if operation.name in _SAME:
            self.ties += list(zip(operands, results, strict=True))
        if operation.name == "stablehlo.while":
            self._loop(operation, operands, results)

    def trips_inside(self, parent: int | None) -> int | None:
        """How often the regions of an operation run; 1 of the function itself, None where nothing says so."""
        if parent is None:
            return 1
        holder = self.ops[parent]
        around: int | None = holder["trips"]
        if holder["name"] != "stablehlo.while":
            return around
        inside: int | None = holder["loop"]
        return None if around is None or inside is None else around * inside

    def _loop(self, loop: Any, operands: list[int], results: list[int]) -> None:
        self.ops[-1]["loop"] = loop_trips.trips(loop)
        inner = [[self._add(argument, False) for argument in region.blocks[0].arguments] for region in loop.regions]
        for same in zip(results, operands, *inner, strict=True):
            self.ties += [(same[0], other) for other in same[1:]]

    def _tie_returned(self, operation: Any, holder: Any) -> None:
        given = [self._known[value] for value in operation.operands]
        if holder is None:
            self.results = given
            return
        results = self.ops[number_of(holder)]["results"]
        if len(given) == len(results):  # the condition of a loop returns one truth value
            self.ties += list(zip(results, given, strict=True))


def number_of(operation: Any) -> int:
    """The number that an operation has in its module's columns."""
    return int(operation.attributes[NUMBER].value)
