"""A module as XLA's partitioner gets it: its values, its operations with their sharding rules, in one flat order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from jaxstage_ext.ir.partitioning.module_layout import ModuleLayout
from jaxstage_ext.ir.partitioning.sharding_rule import ShardingRule, rule_of

LOOP = "stablehlo.while"
UNKNOWN = ("stablehlo.custom_call", "mhlo.topk", "chlo.top_k")
MATRIX_PRODUCTS = ("stablehlo.dot_general", "stablehlo.dot")
CONVOLUTION = "stablehlo.convolution"
Frames = tuple[tuple[str, int], ...]
"""(file, line) of each Python frame, the innermost first."""


@dataclass(frozen=True)
class PartitionValue:
    """An argument, a result of an operation, or an argument of a loop's body."""

    shape: tuple[int, ...]
    bits: int
    """Of an item; 0 of a token."""
    constant: bool
    """Whether it comes from constants alone."""
    dtype: str = ""
    """As HLO names it, "bf16"; "" of a token."""

    @property
    def bytes(self) -> int:
        """Of the whole array."""
        count = 1
        for size in self.shape:
            count *= size
        return (count * self.bits + 7) // 8


@dataclass(frozen=True)
class PartitionOp:
    """One operation; values are numbers of `PartitionableModule.values`."""

    name: str
    """"stablehlo.dot_general"."""
    operands: tuple[int, ...]
    results: tuple[int, ...]
    rule: ShardingRule | None
    """None where Shardy has none: of loops, branches, and custom calls that it does not know."""
    line: str
    """"file.py:12", the innermost line of the user's; "" where unknown."""
    scope: str
    """As JAX names it, "jit(step)/jvp()/dot_general"."""
    trips: int | None
    """How often it runs: the product of the trips of the loops around it; None where one is unknown."""
    flops: float | None
    """Of one run on one device that has it all; None of anything but matrix products and convolutions."""
    parent: int | None = None
    """The loop or branch that holds it."""
    target: str = ""
    """What a custom call calls."""
    frames: Frames = ()
    precision: int = 0
    """What a matrix product or convolution asks for: 0 default, 1 high, 2 highest."""

    @property
    def is_matmul(self) -> bool:
        """Whether it is a matrix product or a convolution."""
        return self.name in MATRIX_PRODUCTS or self.name == CONVOLUTION


@dataclass(frozen=True)
class PartitionableModule:
    """One module; an operation is its place in `ops`, a value its place in `values`."""

    key: str
    values: tuple[PartitionValue, ...]
    ops: tuple[PartitionOp, ...]
    arguments: tuple[int, ...]
    """In the order of XLA's parameters."""
    results: tuple[int, ...]
    ties: tuple[tuple[int, int], ...] = ()
    """Pairs of values that are one: across the border of a loop or a branch, or of a constraint."""
    constraints: tuple[tuple[str, int], ...] = ()
    """The axes that the program's own `with_sharding_constraint`s name, with the sizes in the mesh that it was traced
    with. A layout's mesh must have these axes; their sizes may differ."""
    own: ModuleLayout | None = None
    """The layout that the program was lowered with; None where it names no mesh."""

    @property
    def is_manual(self) -> bool:
        """Whether a `shard_map` in it is partitioned by hand."""
        return any(op.target.startswith("xla.sdy.") for op in self.ops)

    @cached_property
    def unruled(self) -> tuple[int, ...]:
        """Calls of which Shardy does not know how they split, which take their operands whole."""
        return tuple(at for at, op in enumerate(self.ops) if op.rule is None and op.name in UNKNOWN)


def _own(answer: Mapping[str, Any]) -> ModuleLayout | None:
    own = answer["own"]
    if own is None:
        return None
    given, made = (tuple(own[side]) or None for side in ("arguments", "results"))
    return ModuleLayout(dict(own["mesh"]), given or (None,) * len(answer["arguments"]), made)


def module_of(answer: Mapping[str, Any], line_of: Callable[[Frames], str]) -> PartitionableModule:
    """The module of a worker's answer; `line_of` gives the line to show of an operation's frames."""
    line, rule = lru_cache(None)(line_of), lru_cache(None)(rule_of)
    ops = tuple(
        PartitionOp(
            op["name"], op["operands"], op["results"], rule(op["rule"]), line(op["frames"]), op["scope"], op["trips"],
            op["flops"], op["parent"], op["target"], op["frames"],
            op["precision"],
        )
        for op in answer["ops"]
    )  # fmt: skip
    values = tuple(PartitionValue(*value) for value in answer["values"])
    return PartitionableModule(
        answer["key"], values, ops, tuple(answer["arguments"]), tuple(answer["results"]), tuple(answer["ties"]),
        tuple(answer["constraints"]), _own(answer),
    )  # fmt: skip
