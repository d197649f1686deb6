"""The figures of one target as Cost, Memory and Collectives have them, each for one device."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from jaxstage_ext.analysis.cost import cost_wording
from jaxstage_ext.analysis.cost.ceilings import UNDECIDED, Outcome
from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.analysis.memory import memory_wording
from jaxstage_ext.analysis.memory.fit import Fit, Fits
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.core.targets.devices import CATALOGUE
from jaxstage_ext.ir.hlo import totals
from jaxstage_ext.profiling.predictions.predicted_timeline_wording import NO_ESTIMATE
from jaxstage_ext.program.comparing.comparison_columns import COLUMNS, ESTIMATE
from jaxstage_ext.program.comparing.comparison_table import Comparison, TargetFigures
from jaxstage_ext.program.device.device_figures import device_memory
from jaxstage_ext.program.device.device_fit import device_fit, why_unknown
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.device.target_title import platform, size_used
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.head import stage_wording
from jaxstage_ext.program.predicting.time_estimate import time_estimate
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.causeless_collectives import causeless_collectives
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.text.units import scaled

Figures = dict[str, Figure]


def target_figures(program: Program) -> TargetFigures:
    """The figures of one target; what is counted is counted once, and what was saved is as it was saved."""
    if (saved := saved_figures(program)) is not None:
        return saved
    error = program.error if program.executable is None else None
    figures = dict.fromkeys(COLUMNS, Figure(None, why_unknown(program))) | _memory(program)
    if program.executable is not None:
        figures["compile"] = _compile(program)
        figures |= _counted(program) | {ESTIMATE: time_estimate(program)}
    elif (under_way := program.under_way) is not None:
        figures |= {name: replace(one, text=under_way) for name, one in figures.items() if one.value is None}
    stage = program.staged.stage(COMPILE)
    looked_up = frozenset({"compile"} if stage is not None and stage.hit is not None else ())
    return TargetFigures(program.label, _device(program), figures, _in_one_line(error) if error else None, looked_up)


def saved_figures(program: Program) -> TargetFigures | None:
    """The figures that the report of a saved program has of it; None where it has none that can be read."""
    if program.saved_comparison is None:
        return None
    try:
        own = program.saved_row
        table = Comparison.from_dict(program.saved_comparison)
        row = list(table.rows())[own]
        figures = {name: _saved(table, own, name) for name in COLUMNS}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None
    return TargetFigures(program.label, str(row["device"]), figures, row["error"])


def _saved(table: Comparison, row: int, name: str) -> Figure:
    if name in table.columns:
        return table.figure((row, name))
    return Figure(None, NO_ESTIMATE if name == ESTIMATE else "the saved report does not say")


def _compile(program: Program) -> Figure:
    stage, seconds = program.staged.stage(COMPILE), program.seconds.get(COMPILE)
    known = stage_wording.first_time(stage) if stage is not None else None
    return known or Figure(seconds, None if seconds is not None else "JAX gives no time")


def _in_one_line(error: StageError) -> str:
    first = (error.message.strip().splitlines() or [""])[0]
    return f"{error.stage} failed: {error.type}: {first}"[:300]


def _device(program: Program) -> str:
    target = program.target
    if target.kind:
        return f"{CATALOGUE[target.kind].title}, {size_used(program)}"
    return platform(program) + (f", {size_used(program)}" if target.size else "")


def _memory(program: Program) -> Figures:
    """Not kept: the memory that a program needs may become known later."""
    fit, device = device_fit(program), device_memory(program)
    capacity = Figure(device.memory, device.reason if device.memory is None else None)
    needed = Figure(fit.needed, fit.reason if fit.needed is None else None)
    return {"memory": needed, "capacity": capacity, "fits": _fits(fit)}


def _fits(fit: Fit) -> Figure:
    if fit.answer is Fits.UNKNOWN:
        return Figure(None, fit.reason)
    return Figure(fit.answer.value, remark=memory_wording.share_of_room(fit) or fit.text)


@fact
def _counted(program: Program) -> Figures:
    """What is counted on the optimised HLO."""
    if not program.has_hlo:
        names = ("flops", "bytes", "time", "collectives", "sent", "fusions", "kernels")
        return dict.fromkeys(names, Figure(None, "the compiler gives no optimised HLO"))
    counted = work(program)
    return {
        "flops": _range(counted.flops_range, "FLOP"),
        "bytes": _range(counted.bytes_range, "B"),
        "time": _time(program),
        **_collectives(program),
        "fusions": Figure(program.module.fusions),
        "kernels": _kernels(program),
    }


def _range(work: WorkRange, unit: str) -> Figure:
    why = cost_wording.work_reasons(work, unit)
    if work.is_unknown or (work.most is None and not work.least):
        return Figure(None, why)
    text = "" if work.is_exact else cost_wording.bounds(work, unit)
    value = work.least if work.most is None else work.counted
    return Figure(value, remark=why or None, text=text)


def _time(program: Program) -> Figure:
    """The roofline's lower bound, marked as partial where part of it is unknown."""
    roof = device_roofline(program)
    if roof.outcome is Outcome.NO_PEAKS or (roof.bandwidth is None and not roof.peaks):
        return Figure(None, cost_wording.no_peaks(roof.title))
    counted = work(program)
    is_known = counted.flops_range.most is not None and counted.bytes_range.most is not None
    if roof.outcome not in UNDECIDED and is_known:
        return Figure(roof.total, remark=roof.verdict)
    if not roof.total:
        return Figure(None, roof.verdict)
    return Figure(roof.total, remark=roof.verdict, text=f"at least {scaled(roof.total, 's')}")


def _collectives(program: Program) -> Figures:
    exchanged = causeless_collectives(program)
    kinds = Counter(row.op.kind for row in exchanged.rows)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])))
    sent, is_least, _ = exchanged.sent
    figure = Figure(sent, text=f"at least {scaled(sent, 'B')}" if is_least else "")
    if is_least and not sent:
        figure = Figure(None, "it is unknown how much its collectives send")
    return {"collectives": Figure(len(exchanged), remark=listed or None), "sent": figure}


def _kernels(program: Program) -> Figure:
    where = platform(program)
    if where != "gpu":
        runs = "a TPU runs one program, not kernels" if where == "tpu" else "the HLO of a CPU does not show its kernels"
        return Figure(None, runs)
    counted = work(program)
    launched = totals.launches(program.module)
    may_not_run = launched & counted.loops.unknown[program.module.computation]
    number, is_least = int(counted.runs[launched & ~may_not_run].sum()), bool(may_not_run.any())
    if is_least and not number:
        return Figure(None, "all of them are in loops or branches of which it is unknown how often they run")
    remark = "a library call counts as one launch, but may launch several"
    return Figure(number, remark=remark, text=f"at least {number:,}" if is_least else "")
