"""Arguments and results that are copied because convolutions compute with another layout than channels first.

Told of channels-first convolutions alone: of 20 trials of other copies at the edge of a program, most gained nothing.
"""

from __future__ import annotations

import numpy as np

from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.derivative.rematerialization import BACKWARD
from jaxstage_ext.core.jax_private import given_layouts, jaxprs, tracebacks
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.layouts import argument_names_of_module, layouts
from jaxstage_ext.program.source.instruction_places import instruction_places

_LEAST, _LEAST_SHARE = 4 << 20, 0.05
"""Bytes of one array; and of the lower bound, what its copies take."""
_AROUND = 1.5
"""Of what the copies take, what doing without them saves at most: they keep what is around them from being fused."""
_VIEWS = (b"bitcast", b"reshape", b"get-tuple-element", b"copy-done", b"tuple", b"convert")
_FARTHEST, _PARAMETER_NUMBER = 6, 9


def find(program: Program) -> list[Finding]:
    """One finding for all of them, on devices whose layouts XLA chooses."""
    if program.platform == "cpu" or not _has_channels_first(program):
        return []
    module, places, names = program.module, instruction_places(program), argument_names_of_module(program)
    table = layouts(program).copies
    large = {row: size for row, size in zip(table["row"], table["bytes"], strict=True) if size >= _LEAST}
    copies = np.flatnonzero(np.isin(places.row, list(large))).tolist()
    of, kernels, sizes = dict[str, None](), set[int](), dict[int, int]()
    for number in copies:
        kernel = _kernel(module, number)
        given = _argument(module, number, kernel)
        if given >= 0:
            of[names.get(given, f"parameter {given}")] = None
        elif _is_result(module, kernel):
            of[wording.THE_RESULT] = None
        else:
            continue
        kernels.add(kernel)
        sizes[number] = large[int(places.row[number])]
    roof = device_roofline(program)
    seconds = float(np.nansum(roof.seconds[np.isin(roof.rows, list(kernels))])) if kernels else 0.0
    stake = stakes.stake(program, StakeMeasure.TIME, _AROUND * seconds, 0.0)
    if not seconds or seconds < _LEAST_SHARE * (stake.whole or 0.0):
        return []
    worst = max(sizes, key=lambda number: sizes[number])
    return [
        Finding(
            FindingKind.LAYOUT_COPY,
            wording.copied_at_the_edge(tuple(of), sum(sizes.values())),
            stake,
            line=places.line[worst],
            rows={"hlo": tuple(int(places.row[number]) for number in sizes)},
            names=tuple(of),
            change=CodeChange(wording.FREE_LAYOUTS, stage=_with_free_layouts),
            certainty=Certainty.ESTIMATED,
            caveat=wording.KEEP_LAYOUT,
            tab="layouts",
        )
    ]


def _has_channels_first(program: Program) -> bool:
    """Whether a convolution of the forward pass has its channels before other dimensions."""
    for eqn, _ in jaxprs.nested_equations(program.jax_traced.jaxpr.jaxpr):
        if eqn.primitive.name == "conv_general_dilated" and BACKWARD not in tracebacks.name_stack(eqn):
            given = eqn.params["dimension_numbers"].lhs_spec
            if given[1] != len(given) - 1:
                return True
    return False


def _with_free_layouts(staged: Staged) -> Staged:
    return rematerialization.lowered_anew(staged, given_layouts.with_free_layouts(unwrap(staged.value(TRACE))))


def _kernel(module: Module, number: int) -> int:
    """The fusion that an instruction is in, or itself."""
    if int(module.computation[number]) == module.entry:
        return number
    callers = np.flatnonzero((module.called.at(0) == module.computation[number]) & (module.opcode == b"fusion"))
    return int(callers[0]) if len(callers) else number


def _argument(module: Module, number: int, kernel: int) -> int:
    """The number of the entry's parameter that a copy reads; -1 for what is computed."""
    row = _behind(module, int(module.operands[number][0]))
    if row >= 0 and kernel != number and module.opcode[row] == b"parameter":
        row = _behind(module, int(module.operands[kernel][_number(module, row)]))
    is_given = row >= 0 and module.opcode[row] == b"parameter" and module.computation[row] == module.entry
    return _number(module, row) if is_given else -1


def _is_result(module: Module, kernel: int) -> bool:
    """Whether the program returns what a kernel makes."""
    root = int(module.roots[module.entry])
    ends = module.operands[root] if module.opcode[root] == b"tuple" else [root]
    return any(_behind(module, int(end)) == kernel for end in ends)


def _number(module: Module, row: int) -> int:
    field = module.fields(np.array([row], np.int64), _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
    return int(field.value[0]) if len(field.row) else 0


def _behind(module: Module, row: int) -> int:
    for _ in range(_FARTHEST):
        if row < 0 or module.opcode[row] not in _VIEWS or not module.operands[row]:
            break
        row = int(module.operands[row][0])
    return row
