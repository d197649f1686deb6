"""Products that XLA rewrote without their source: the view that gives their result its old shape still has it.

XLA:CPU turns a product with a vector into one of matrices. The new `dot` has no metadata, or that of the loop that it
is in; the bitcast behind it, which is often inside a fusion, has that of the old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.sources.links import Edges
from jaxstage_ext.ir.wire.protowire import Longs
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


_PARAMETER_NUMBER = 9


def of_constants(module: Module) -> Edges:
    """(constants, the instructions that read them inside fusions), in the order of the fusions.

    What reads a constant is often of another line than the fusion that takes it.
    """
    users, values = module.operands.owner, module.operands.values
    known = np.maximum(values, 0)
    is_taken = (values >= 0) & (module.opcode[known] == b"constant") & (module.opcode[users] == b"fusion")
    taken = np.flatnonzero(is_taken)
    if not len(taken):
        return taken, taken
    inner, readers = parameters_by_number(module), np.argsort(values, kind="stable")
    place = taken - module.operands.start[users[taken]]
    read = np.array(
        [
            inner.get((module.called[user][0], at), -1) if module.called[user] else -1
            for user, at in zip(users[taken].tolist(), place.tolist(), strict=True)
        ]
    )
    first = np.minimum(np.searchsorted(values[readers], read), len(values) - 1)
    is_read = (read >= 0) & (values[readers[first]] == read)
    return values[taken[is_read]], users[readers[first[is_read]]]


def parameters_by_number(module: Module) -> dict[tuple[int, int], int]:
    """The parameters by computation and number."""
    rows: Longs = module.rows(b"parameter")
    field = module.fields(rows, _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
    number = np.zeros(len(rows), np.int64)
    number[field.row] = field.value
    return dict(zip(zip(module.computation[rows].tolist(), number.tolist(), strict=True), rows.tolist(), strict=True))
