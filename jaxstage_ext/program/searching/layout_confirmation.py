"""A layout compiled for the target: what the compiler says of its time and memory."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import jax

from jaxstage_ext.analysis.cost.ceilings import Ceiling, Outcome
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.analysis.memory.fit import FitVerdict
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.options import flag_values
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.device.target_title import target_platform
from jaxstage_ext.program.program import Program
from jaxstage_ext.search.layout_result import CompiledFigures, CompiledState, CompileEffort

_LOW: dict[str, dict[str, Any]] = {
    "tpu": {"optimization_level": "O0"},
    "cpu": {"xla_backend_optimization_level": 0},
    "cuda": {},
}
"""Compile options of low effort; a GPU's compiler is quick as it is."""
_NO_TIME = (Outcome.NO_PEAKS, Outcome.NO_LINK_SPEED)


def effort_of(program: Program, effort: CompileEffort) -> CompileEffort:
    """The effort that a compile for a program's target makes: a compiler without a lower one makes its default."""
    return effort if _LOW[target_platform(program)] else CompileEffort.DEFAULT


def compiled_program(program: Program, call: Call, effort: CompileEffort) -> Program:
    """A call compiled for a program's target, in a worker where this kernel has CPUs alone."""
    low = _LOW[target_platform(program)] if effort is CompileEffort.LOW else {}
    options = flag_values.check(dict(call.compiler_options) | low)
    return _staged(program, replace(call, compiler_options=options), COMPILE)


def lowered_program(program: Program, call: Call) -> Program:
    """A call lowered as `compiled_program` does; its error is in it."""
    return _staged(program, call, LOWER)


def _staged(program: Program, call: Call, stage: str) -> Program:
    staged, *_ = stages.plan_each(call, stage, (_target(program),), program.limits)
    made = Program(staged)
    made.advance()
    return made


def _target(program: Program) -> Target:
    is_cpu = program.target.is_local and jax.default_backend() == "cpu"
    return cross_compile.here(program.target) if is_cpu else program.target


def figures(compiled: Program, effort: CompileEffort, began: float) -> CompiledFigures:
    """What a compile gave; `began` is when, by `time.monotonic`. One that failed is not one that does not fit."""
    fit = device_fit(compiled)
    seconds = time.monotonic() - began
    if compiled.executable is None:
        refused = fit.verdict is FitVerdict.REFUSED
        error = compiled.error
        reason = " ".join((error.message if error else "").split())[:300]
        state = CompiledState.DOES_NOT_FIT if refused else CompiledState.FAILED
        return CompiledFigures(state, effort, fits=False if refused else None, reason=reason, seconds=seconds)
    roof = device_roofline(compiled)
    state = CompiledState.DOES_NOT_FIT if fit.fits is False else CompiledState.COMPILED
    shares = _times(roof)
    return CompiledFigures(
        state,
        effort,
        least=None if shares is None else roof.total,
        compute=None if shares is None else shares.get(Ceiling.COMPUTE, 0.0),
        memory=None if shares is None else shares.get(Ceiling.MEMORY, 0.0),
        exposed=None if shares is None else shares.get(Ceiling.INTERCONNECT, 0.0),
        needed=fit.needed,
        room=fit.room,
        fits=fit.fits,
        reason="" if shares is not None else roof.outcome.value,
        seconds=seconds,
    )


def _times(roof: Roofline) -> dict[Ceiling, float] | None:
    """Of the least time what each ceiling gives, in seconds; None where it is unknown."""
    if roof.outcome in _NO_TIME or not math.isfinite(roof.total):
        return None
    return {ceiling: share * roof.total for ceiling, share in roof.decision.known.items()}
