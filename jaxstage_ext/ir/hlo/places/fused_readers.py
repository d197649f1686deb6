"""What reads a constant inside the fusion that takes it, which is often of another line than the fusion."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.sources.links import Edges
from jaxstage_ext.ir.wire.protowire import Longs

_PARAMETER_NUMBER = 9


def of_constants(module: Module) -> Edges:
    """(constants, the instructions that read them inside fusions), in the order of the fusions."""
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
