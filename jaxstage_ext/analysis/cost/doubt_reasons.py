"""What has to be known before it can be said what bounds a program: which instructions, units, loops and branches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.collectives.exposed_time import Exchange
from jaxstage_ext.analysis.cost.ceilings import Doubt, DoubtReason
from jaxstage_ext.analysis.cost.compute_times import ComputeTimes
from jaxstage_ext.analysis.cost.instruction_times import InstructionTimes
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.rules.arithmetic import UnitKind
from jaxstage_ext.analysis.cost.rules.flops import TRANSCENDENTAL
from jaxstage_ext.ir.hlo.module import Module

Floats = npt.NDArray[np.float64]


def read(
    cost: Cost, times: InstructionTimes, computed: ComputeTimes, doubts: Sequence[Doubt], exchanges: Sequence[Exchange]
) -> tuple[DoubtReason, ...]:
    """Each doubt with what it is about."""
    return tuple(_reason(cost, times, computed, doubt, exchanges) for doubt in doubts)


def _reason(
    cost: Cost, times: InstructionTimes, computed: ComputeTimes, doubt: Doubt, exchanges: Sequence[Exchange]
) -> DoubtReason:
    weight = _weight(cost, times, doubt)
    rows = np.flatnonzero(weight > 0)
    most = int(rows[np.argmax(weight[rows])]) if len(rows) else -1
    line = cost.places.line[most] if most >= 0 else ""
    return DoubtReason(doubt, _what(cost, computed, doubt, rows, exchanges), line, len(rows))


def _weight(cost: Cost, times: InstructionTimes, doubt: Doubt) -> Floats:
    """Per instruction, how much of its time is open."""
    weight, shown = np.zeros(len(cost.ops)), np.zeros(len(cost.ops))
    shown[cost.shown] = 1
    columns = {
        Doubt.FLOPS: times.flops_open * np.maximum(cost.moved, 1),
        Doubt.PEAK: times.peak_open,
        Doubt.FUNCTION: times.function_open,
        Doubt.LINK: times.links_open * np.maximum(cost.moved, 1),
        Doubt.ON_CHIP: times.on_chip,
        Doubt.HOST: times.host_open * np.maximum(cost.host, 1) if len(cost.host) else times.host_open,
    }
    if doubt in columns:
        return np.where(shown > 0, columns[doubt] * np.maximum(cost.runs, 1), 0)
    rows = cost.control.running(b"while" if doubt is Doubt.LOOP else b"conditional")
    weight[[row for row in rows if doubt is Doubt.BRANCH or cost.loops.trips[row].trips is None]] = 1
    return weight


def _what(
    cost: Cost,
    computed: ComputeTimes,
    doubt: Doubt,
    rows: npt.NDArray[np.int64],
    exchanges: Sequence[Exchange],
) -> tuple[str, ...]:
    if doubt is Doubt.LINK:
        return tuple(dict.fromkeys(exchange.why for exchange in exchanges if np.isnan(exchange.seconds)))
    if doubt is Doubt.FLOPS:
        return tuple(dict.fromkeys(cost.why[row] for row in rows.tolist() if row in cost.why))
    if doubt is Doubt.PEAK:
        unpublished = [unit for unit, rate in computed.rates.items() if not rate.is_known]
        named = [unit for unit in unpublished if unit.kind is not UnitKind.FUNCTION and computed.work[unit][rows].any()]
        return tuple(dict.fromkeys(str(unit) or "fft" for unit in named))
    return _functions(cost, rows) if doubt is Doubt.FUNCTION else ()


def _functions(cost: Cost, rows: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """The opcodes of the transcendental functions of some instructions, the most operations first."""
    ops = cost.ops
    inside = _within(ops, rows) & np.isin(ops.opcode, TRANSCENDENTAL) & (cost.transcendentals > 0)
    amount: dict[str, float] = {}
    for row in np.flatnonzero(inside).tolist():
        name = ops.opcode[row].decode()
        amount[name] = amount.get(name, 0.0) + float(cost.transcendentals[row])
    return tuple(sorted(amount, key=lambda name: -amount[name]))


def _within(ops: Module, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """These instructions and all of what they call: a TPU's fusions hold fusions."""
    inside = np.zeros(len(ops), np.bool_)
    while len(rows):
        inside[rows] = True
        called = [computation for row in rows.tolist() for computation in ops.called[row] if computation >= 0]
        rows = np.flatnonzero(np.isin(ops.computation, called) & ~inside)
    return inside
