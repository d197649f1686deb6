"""The figures of one target, as far as its compiler gives them.

All are of one device, and a loop's body counts once in those that are counted on the HLO.
"""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.core import stage_list
from jaxstage_ext.core.staged import COMPILE
from jaxstage_ext.core.targets.devices import CATALOGUE, memory_of
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import totals
from jaxstage_ext.program.comparison_columns import COLUMNS
from jaxstage_ext.program.comparison_table import ComparedFigure, TargetFigures
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.target_title import platform
from jaxstage_ext.program.xla_analyses import Analyses
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.units import rounded, scaled


def target_figures(program: Program) -> TargetFigures:
    """The figures of one target, computed once its stages have ended."""
    return _final_figures(program) if program.has_ended else _read(program)


@fact
def _final_figures(program: Program) -> TargetFigures:
    return _read(program)


def _read(program: Program) -> TargetFigures:
    target, error = program.target, program.error
    if program.executable is None:
        figures = dict.fromkeys(COLUMNS, _unknown(_why_not_compiled(program))) | {"capacity": _capacity(target)}
        return TargetFigures(str(target), _device(program), figures, _in_one_line(error) if error else None)
    analyses = program.analyses
    figures = {
        "memory": _known_or_why(*analyses.peak),
        "capacity": _capacity(target),
        "flops": _known_or_why(*analyses.cost("flops")),
        "bytes": _known_or_why(*analyses.cost("bytes accessed")),
        "time": _estimated_time(analyses),
        "compile": _known_or_why(program.seconds.get(COMPILE), "JAX gives no time"),
        **_counted(program),
    }
    figures["fits"] = _fits(figures["memory"], figures["capacity"])
    return TargetFigures(str(target), _device(program), figures)


def _in_one_line(error: StageError) -> str:
    first = (error.message.strip().splitlines() or [""])[0]
    return f"{error.stage} failed: {error.type}: {first}"[:300]


def _why_not_compiled(program: Program) -> str:
    if program.error is not None:
        return f"{program.error.stage} failed"
    if not stage_list.makes_executable(program.stage):
        return f"not compiled: %{program.stage} stops earlier"
    return "not compiled yet"


def _device(program: Program) -> str:
    target = program.target
    if target.kind:
        return f"{CATALOGUE[target.kind].title}, {target.size}"
    return platform(program) + (f", {target.size}" if target.size else "")


def _unknown(reason: str) -> ComparedFigure:
    return ComparedFigure(None, reason)


def _known_or_why(value: float | None, reason: str, remark: str | None = None) -> ComparedFigure:
    return _unknown(reason) if value is None else ComparedFigure(value, remark=remark)


def _capacity(target: Target) -> ComparedFigure:
    reason = "its maker publishes no memory size" if target.kind else "no memory size on file"
    return _known_or_why(memory_of(target), reason)


def _fits(memory: ComparedFigure, capacity: ComparedFigure) -> ComparedFigure:
    for figure in (memory, capacity):
        if figure.value is None:
            return _unknown(figure.reason or "")
    share = (memory.value or 0) / (capacity.value or 1)
    part = f"{share:.1%}" if share <= 1 else f"{rounded(share)} times"
    return ComparedFigure(share <= 1, remark=f"{part} of the memory")


def _estimated_time(analyses: Analyses) -> ComparedFigure:
    value, reason = analyses.cost("optimal_seconds")
    if analyses.costs is not None and "optimal_seconds" not in analyses.costs:
        return _unknown("this compiler estimates no time")
    if analyses.costs is not None and not value:
        return _unknown("the compiler gives no estimate for part of the program")
    return _known_or_why(value, reason)


def _counted(program: Program) -> dict[str, ComparedFigure]:
    """What is counted on the optimised HLO."""
    if "hlo" not in program.documents:
        names = ("fusions", "kernels", "collectives", "exchanged", "cycles")
        return dict.fromkeys(names, _unknown("the compiler gives no optimised HLO"))
    module = program.module
    collectives = totals.collectives(module)
    kinds = ", ".join(f"{kind.count} {kind.kind}" for kind in collectives) or None
    return {
        "fusions": ComparedFigure(module.fusions),
        "kernels": _kernels(program, module),
        "collectives": ComparedFigure(sum(kind.count for kind in collectives), remark=kinds),
        "exchanged": _exchanged(collectives),
        "cycles": _known_or_why(totals.estimated_cycles(module), "this compiler estimates no cycles"),
    }


def _kernels(program: Program, module: hlo.Module) -> ComparedFigure:
    where = platform(program)
    if where == "gpu":
        return ComparedFigure(
            totals.kernels(module), remark="a library call counts as one kernel, but may launch several"
        )
    return _unknown(
        "a TPU runs one program, not kernels" if where == "tpu" else "the HLO of a CPU does not show its kernels"
    )


def _exchanged(collectives: Sequence[totals.Collective]) -> ComparedFigure:
    sizes = [kind.bytes for kind in collectives]
    if None in sizes:
        return _unknown("a collective has a type whose size is not known")
    kinds = ", ".join(f"{kind.kind} {scaled(kind.bytes or 0, 'B')}" for kind in collectives) or None
    return ComparedFigure(sum(size or 0 for size in sizes), remark=kinds)
