"""The collectives of a compiled layout, in the form of an estimate's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.causeless_collectives import causeless_collectives
from jaxstage_ext.search.layout_result import CollectiveShare

_KINDS = {kind.value: kind for kind in CollectiveKind} | {"ragged-all-to-all": CollectiveKind.ALL_TO_ALL}
_CHANGES = (b"convert", b"copy", b"bitcast", b"reshape", b"transpose", b"copy-done", b"copy-start", b"all-gather")
"""Opcodes after which an argument is still that argument, in another form or on more devices."""
_PARAMETER_NUMBER = 9
_MANY = 8
"""Operations in a row that are followed."""


def compiled_exchange(compiled: Program, arguments: Sequence[str]) -> tuple[CollectiveShare, ...] | None:
    """The collectives of a compiled program, those of one kind, line and argument together, of most bytes first.

    `arguments` are the paths of the module's arguments. None where one is in a loop of unknown length.
    """
    found = causeless_collectives(compiled)
    if any(row.in_unknown_loop for row in found.rows):
        return None
    alike: dict[CollectiveShare, list[CollectiveRow]] = {}
    for row in found.rows:
        if row.op.kind in _KINDS:
            alike.setdefault(_kind(found, row, arguments), []).append(row)
    shares = [_together(kind, rows) for kind, rows in alike.items()]
    return tuple(sorted(shares, key=lambda share: -share.bytes))


def _kind(found: Collectives, row: CollectiveRow, arguments: Sequence[str]) -> CollectiveShare:
    """A share of nothing yet."""
    axes = tuple(axis.name for axis in row.groups.axes or ())
    is_gradient = "transpose(" in (found.places.scope[row.op.row] or found.places.scope[row.op.start])
    argument = _argument(found.ops, row.inputs, arguments)
    line = next(iter(found.lines(row)), "").rpartition("/")[2]  # as of estimates, without folders
    return CollectiveShare(_KINDS[row.op.kind], axes, line, 0, 0, 0.0, is_gradient, argument=argument)


def _together(kind: CollectiveShare, rows: Sequence[CollectiveRow]) -> CollectiveShare:
    times = [row.total_seconds for row in rows if row.total_seconds is not None]
    return CollectiveShare(
        kind.kind,
        kind.axes,
        kind.line,
        count=sum(round(row.runs) for row in rows),
        bytes=sum(round(row.payload * row.runs) for row in rows),
        seconds=sum(times) if len(times) == len(rows) else None,
        is_gradient=kind.is_gradient,
        argument=kind.argument,
    )


def _is_change(module: Module, row: int) -> bool:
    """Whether an instruction, or all that a fusion computes, leaves the values of an array as they are."""
    if module.opcode[row] != b"fusion":
        return module.opcode[row] in _CHANGES
    fused = module.opcode[module.computation == module.called[row][0]]
    return bool(len(fused)) and bool(np.isin(fused, (*_CHANGES, b"parameter")).all())


def _argument(module: Module, inputs: Sequence[int], arguments: Sequence[str]) -> str:
    """The argument that goes in alone, in another dtype or order perhaps; "" of anything else."""
    row = inputs[0] if len(inputs) == 1 else -1
    for _ in range(_MANY):
        if row < 0 or len(module.operands[row]) != 1 or not _is_change(module, row):
            break
        row = int(module.operands[row][0])
    if row < 0 or module.opcode[row] != b"parameter" or module.computation[row] != module.entry:
        return ""
    field = module.fields(np.array([row]), _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
    number = int(field.value[0]) if len(field.row) else 0
    return arguments[number] if number < len(arguments) else ""
