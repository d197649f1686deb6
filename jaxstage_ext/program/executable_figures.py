"""XLA's own figures of an executable, as every view heads a program with them."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.devices import memory_of
from jaxstage_ext.program import xla_analyses
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.summary_form import FigureSummary
from jaxstage_ext.program.target_title import device_title
from jaxstage_ext.program.xla_analyses import Analyses
from jaxstage_ext.report.units import scaled


@fact
def executable_figures(program: Program) -> list[FigureSummary]:
    """FLOPs, bytes and memory by XLA's analyses; "unknown" with the reason where it gives none."""
    analyses = program.analyses
    return [
        _figure("FLOPs", analyses.cost("flops"), "FLOP", "XLA's cost analysis; it counts a loop's body once"),
        _figure("bytes accessed", analyses.cost("bytes accessed"), "B"),
        *_memory_figures(analyses),
        *_capacity(program.executable),
    ]


def _memory_figures(analyses: Analyses) -> list[FigureSummary]:
    note = "XLA's peak_memory_in_bytes; CPU executables may leave temporaries out of it"
    peak = _figure("peak memory", analyses.peak, "B", note)
    if analyses.memory is None:
        return [peak]
    return [peak, _known("temp", scaled(analyses.memory["temp_size_in_bytes"], "B"))]


def _capacity(compiled: Any) -> list[FigureSummary]:
    """The memory that an absent device has, where its maker says."""
    memory = memory_of(compiled.target) if isinstance(compiled, Executable) else None
    if memory is None:
        return []
    kind = compiled.target.kind
    return [_known(f"{kind} memory", scaled(memory, "B"), f"of one {device_title(compiled.target)}, by its maker")]


def _known(label: str, text: str, note: str | None = None) -> FigureSummary:
    return {"label": label, "text": text, "known": True, "reason": None, "note": note}


def _figure(label: str, figure: xla_analyses.Figure, unit: str, note: str | None = None) -> FigureSummary:
    value, reason = figure
    if value is None:
        return {"label": label, "text": "unknown", "known": False, "reason": reason, "note": None}
    return _known(label, scaled(value, unit), note)
