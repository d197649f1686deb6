"""Which values an operation reads from and writes to memory, where neighbouring element-wise operations are one kernel.

Element-wise operations that follow each other are taken for one kernel, with the reductions that end them: what passes
between two of its operations is never written. A kernel reads each value once. What comes after a matrix product, a
reduction or another operation of its own is another kernel. What comes from constants alone is made where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Counted = list[tuple[list[int], list[int]]]
"""Per operation the places of the operands that it reads, and of the results that it writes."""
_APART = frozenset(
    "stablehlo." + name
    for name in (
        "dot_general", "dot", "convolution", "gather", "scatter", "sort", "custom_call", "while", "case", "if", "fft",
        "dynamic_slice", "dynamic_update_slice", "rng_bit_generator", "reduce_window", "select_and_scatter", "cholesky",
        "triangular_solve", "concatenate", "pad", "optimization_barrier",
    )
)  # fmt: skip
_ENDS = ("stablehlo.reduce",)
_NOTHING = (
    "stablehlo.while",
    "stablehlo.case",
    "stablehlo.if",
    "stablehlo.optimization_barrier",
    "sdy.sharding_constraint",
)
_RESULT_ONLY = {"stablehlo.dynamic_slice": (), "stablehlo.gather": (1,), "stablehlo.slice": ()}
"""Operations that read of their first operand what they give; the other operands that they read."""
_UPDATES = {"stablehlo.dynamic_update_slice": 1, "stablehlo.scatter": 2}
"""Operations that write no more than an update: the place of that operand."""


def counted(ops: Sequence[dict[str, Any]], results: Sequence[int], values: Sequence[tuple[Any, ...]]) -> Counted:
    """What each operation reads and writes; `results` are the values that the program returns."""
    kernel = _kernels(ops, values)
    users: dict[int, set[int]] = {value: {-1} for value in results}
    for number, op in enumerate(ops):
        for value in op["operands"]:
            users.setdefault(value, set()).add(kernel[number])
    made = {value: kernel[number] for number, op in enumerate(ops) for value in op["results"]}
    seen: set[tuple[int, int]] = set()
    counted_of = [_of_op(op, kernel[number], users, made, seen) for number, op in enumerate(ops)]
    constant = {at for at, value in enumerate(values) if value[2]}
    return [
        (
            [at for at in reads if op["operands"][at] not in constant],
            [at for at in writes if op["results"][at] not in constant],
        )
        for op, (reads, writes) in zip(ops, counted_of, strict=True)
    ]


def _of_op(
    op: dict[str, Any], kernel: int, users: dict[int, set[int]], made: dict[int, int], seen: set[tuple[int, int]]
) -> tuple[list[int], list[int]]:
    name, operands = op["name"], op["operands"]
    if name in _NOTHING:
        return [], []
    if name in _UPDATES:
        return list(range(1, len(operands))), []
    places: Any = _RESULT_ONLY.get(name, range(len(operands)))
    reads = []
    for place in places:
        value = operands[place]
        if made.get(value) != kernel and (kernel, value) not in seen:
            seen.add((kernel, value))
            reads.append(place)
    writes = [place for place, value in enumerate(op["results"]) if users.get(value, set()) - {kernel}]
    return reads, writes


def _kernels(ops: Sequence[dict[str, Any]], values: Sequence[tuple[Any, ...]]) -> list[int]:
    """The kernel of each operation, by the number of one of its operations."""
    level: dict[int, int] = {}
    maker: dict[int, int] = {}
    root = list(range(len(ops)))
    own = []
    for number, op in enumerate(ops):
        own.append(max((level.get(value, 0) for value in op["operands"]), default=0))
        for value in () if op["name"] in _APART else op["operands"]:
            before = maker.get(value)
            if before is not None and own[before] == own[number] and not values[value][2]:
                root[_find(root, before)] = _find(root, number)
        for value in op["results"]:
            level[value] = own[number] + (op["name"] in _APART or op["name"] in _ENDS)
            if op["name"] not in _APART and op["name"] not in _ENDS:
                maker[value] = number
    return [_find(root, number) for number in range(len(ops))]


def _find(root: list[int], at: int) -> int:
    while root[at] != at:
        root[at] = root[root[at]]
        at = root[at]
    return at
