"""Products that XLA rewrote without their source: the view that gives their result its old shape still has it.

XLA:CPU turns a product with a vector into one of matrices. The new `dot` has no metadata, or that of the loop that it
is in; the bitcast behind it, which is often inside a fusion, has that of the old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.places.fused_readers import parameters_by_number
from jaxstage_ext.report.frames import Ints

_PRODUCTS = (b"dot", b"convolution")
_NAMES = ("dot_general", "conv_general_dilated", "ragged_dot", "ragged_dot_general")
_VIEWS = (b"bitcast", b"reshape", b"copy", b"transpose", b"get-tuple-element")
_FARTHEST = 4


def named_after(module: Module, frame: Ints, scope: Ints, scopes: Sequence[str]) -> dict[int, int]:
    """For each product that has lost its own source, the view of its result that has it."""
    rows = [row for row in module.rows(*_PRODUCTS).tolist() if not _is_product(scope, scopes, row)]
    if not rows:
        return {}
    users, inner = _Users(module), parameters_by_number(module)
    found = {row: _view(module, row, users, inner, frame, scope, scopes) for row in rows}
    return {row: view for row, view in found.items() if view >= 0}


def _is_product(scope: Ints, scopes: Sequence[str], row: int) -> bool:
    return scope[row] >= 0 and scopes[int(scope[row])].rpartition("/")[2] in _NAMES


def _view(
    module: Module, row: int, users: _Users, inner: dict[tuple[int, int], int], frame: Ints, scope: Ints,
    scopes: Sequence[str],
) -> int:  # fmt: skip
    level = [row]
    for _ in range(_FARTHEST):
        level = list(dict.fromkeys(after for at in level for after in _onward(module, at, users, inner)))
        for at in level:
            if module.opcode[at] in _VIEWS and frame[at] >= 0 and _is_product(scope, scopes, at):
                return at
    return -1


def _onward(module: Module, row: int, users: _Users, inner: dict[tuple[int, int], int]) -> Iterator[int]:
    """The views of a value, and the parameters of fusions that stand for it."""
    for user in users.of(row):
        if module.opcode[user] in _VIEWS:
            yield user
        elif module.opcode[user] == b"fusion" and module.called[user]:
            for place, operand in enumerate(module.operands[user]):
                if operand == row and (parameter := inner.get((module.called[user][0], place), -1)) >= 0:
                    yield parameter


class _Users:
    """The instructions that use each, found by one sort: a module may have many."""

    def __init__(self, module: Module) -> None:
        self._order = np.argsort(module.operands.values, kind="stable")
        self._value, self._owner = module.operands.values[self._order], module.operands.owner

    def of(self, row: int) -> list[int]:
        first, last = np.searchsorted(self._value, [row, row + 1])
        users: list[int] = self._owner[self._order[first:last]].tolist()
        return users
