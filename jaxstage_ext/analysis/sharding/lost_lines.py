"""The lines of operations whose own XLA lost before it partitioned the module, found in the StableHLO.

XLA moves a reshape or a transposition past elementwise operations, after which it bears the name and line of one of
those; a rewritten operation, such as a long cumulative sum on a TPU, has none at all. Where the StableHLO has only one
line with such an operation, it is that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.rules.flops import ELEMENTWISE, TRANSCENDENTAL
from jaxstage_ext.ir.hlo.module import Module

_MOVED = (b"reshape", b"transpose", b"reverse", b"slice")
"""Operations that XLA moves past elementwise ones."""
_REWRITTEN = (*_MOVED, b"reduce-window", b"sort", b"concatenate", b"pad", b"dot", b"reduce", b"gather", b"scatter")
_OPERATION = re.compile(r"\bstablehlo\.(\w+)")
_TYPE = re.compile(r"tensor<((?:\d++x)*+)[^<>]*>")
_HLO_NAMES = {"dot-general": "dot", "broadcast-in-dim": "broadcast"}

Sizes = tuple[int, ...]
Written = Mapping[bytes, Mapping[Sizes, set[str]]]
"""By HLO opcode and by sizes of the result, the source lines with such an operation."""


def written(texts: Iterable[str], lines: Iterable[str]) -> Written:
    """The operations of a StableHLO module, from its text and the source line of each of its lines."""
    operations: dict[bytes, dict[Sizes, set[str]]] = {}
    for text, line in zip(texts, lines, strict=True):
        match = _OPERATION.search(text)
        if match and line:
            name = match[1].replace("_", "-")
            sizes = _TYPE.findall(text)[-1:] or [""]
            by_sizes = operations.setdefault(_HLO_NAMES.get(name, name).encode(), {})
            by_sizes.setdefault(tuple(int(size) for size in sizes[0].split("x") if size), set()).add(line)
    return operations


def found(ops: Module, lines: Sequence[str], inferred: npt.NDArray[np.bool_], operations: Written) -> dict[int, str]:
    """By row, the line of each operation whose own was lost, where there is only one that it can be."""
    lost = _lost(ops, inferred)
    places = {row: line for row in lost if (line := _line(ops, row, lines[row], inferred[row], operations))}
    spread = [row for row in lost if inferred[row] and row not in places and ops.opcode[row] not in operations]
    for _ in range(len(spread) and 4):
        for row in spread:
            near = {places[other] for other in _near(ops, row) if other in places and inferred[other]}
            if row not in places and len(near) == 1:
                places[row] = near.pop()
    return {row: line for row, line in places.items() if line != lines[row]}


def _lost(ops: Module, inferred: npt.NDArray[np.bool_]) -> list[int]:
    """The operations without a line of their own, and those that have that of a neighbour."""
    computed = np.isin(ops.opcode, (*ELEMENTWISE, *TRANSCENDENTAL)) & (ops.scope >= 0)
    borrowed = np.isin(ops.opcode, _MOVED) & np.isin(ops.scope, np.unique(ops.scope[computed]))
    return np.flatnonzero(borrowed | (inferred & np.isin(ops.opcode, _REWRITTEN))).tolist()


def _near(ops: Module, row: int) -> list[int]:
    users = ops.operands.owner[ops.operands.values == row].tolist()
    return [other for other in (*users, *ops.operands[row]) if other >= 0]


def _line(ops: Module, row: int, own: str, rewritten: bool, operations: Written) -> str:
    """The only line with such an operation of this size; of any size where it was rewritten; "" if there is not one."""
    by_sizes = operations.get(bytes(ops.opcode[row]), {})
    everywhere = set[str]().union(*by_sizes.values())
    candidates = by_sizes.get(tuple(ops.shapes.sizes(row))) or (everywhere if rewritten else set[str]())
    if own in everywhere:
        return own
    return next(iter(candidates)) if len(candidates) == 1 else ""
