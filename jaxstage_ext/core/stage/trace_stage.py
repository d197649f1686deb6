"""From a Python function to its jaxpr."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jaxstage_ext.core.stage.stage_definition import TRACE, StageDefinition, StagedProgram

if TYPE_CHECKING:
    from jaxstage_ext.core.call import Call
    from jaxstage_ext.core.stage.events import Heard
    from jaxstage_ext.core.stage.staged import CacheHit, Stage, Staged
    from jaxstage_ext.report.document import Document

_CACHED_SECONDS = 3e-5
"""Seconds below which JAX's own trace time is that of finding the jaxpr in its cache: 3 to 12 us, against
over 140 us for the tracing of an empty function (jax 0.12.0.1, 2 GHz)."""

_jaxprs: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def run(staged: Staged, stage: Stage) -> Any:
    """The `jax.stages.Traced` of the call, on its mesh if it has one."""
    from jaxstage_ext.core.stage.stageable import function_of, unwrap
    from jaxstage_ext.core.staleness.traced_versions import VersionCheck

    call, function = staged.call, function_of(staged)
    check = VersionCheck(call.fn, call.args, call.kwargs, is_jitted=function is call.fn)
    staged.sources.take(one.__code__ for one in check.functions)
    started = time.perf_counter()
    traced = _trace(call, function)
    stage.wall = time.perf_counter() - started
    stage.old_versions = check.old_versions(unwrap(traced))
    return traced


def _trace(call: Call, function: Any) -> Any:
    from jaxstage_ext.core.call import has_method
    from jaxstage_ext.core.jax_private import stray_prints, tracing
    from jaxstage_ext.core.layout import meshes, specs
    from jaxstage_ext.ir.sources.source import is_outside

    args, kwargs = specs.arguments(call)
    with meshes.around(call.layout), stray_prints.held_back(is_outside):
        if has_method(function, "trace"):
            return meshes.traced(function.trace(*args, **kwargs), call.layout)
        return meshes.traced(tracing.trace_through_lower(function.lower, args, kwargs), call.layout)


def cache_hit(value: Any, event_seconds: float | None, heard: Heard) -> CacheHit | None:
    """A hit where JAX recorded no tracing, recorded hardly any, or gave a jaxpr that was seen before."""
    from jaxstage_ext.core.stage.stageable import unwrap
    from jaxstage_ext.core.stage.staged import Cache, CacheHit

    seen = _seen_before(unwrap(value))
    return CacheHit(Cache.PROCESS) if event_seconds is None or seen or event_seconds < _CACHED_SECONDS else None


def _seen_before(traced: Any) -> bool:
    """Whether an earlier trace gave this jaxpr, which is known for as long as JAX keeps it."""
    if traced is None:
        return False
    jaxpr = traced.jaxpr.jaxpr
    known = _jaxprs.get(id(jaxpr)) is jaxpr
    _jaxprs[id(jaxpr)] = jaxpr
    return known


def jaxpr(program: StagedProgram) -> Callable[[], Document] | None:
    """How to read the jaxpr."""
    from jaxstage_ext.core import jaxpr_lines

    traced = program.jax_traced
    return None if traced is None else lambda: jaxpr_lines.document(traced.jaxpr, program.frame_table)


def count(program: StagedProgram) -> Mapping[str, int]:
    """The number of equations, those of inner jaxprs included."""
    from jaxstage_ext.core.jax_private import jaxprs

    return {} if program.jax_traced is None else {"eqn": jaxprs.count_equations(program.jax_traced.jaxpr)}


DEFINITION = StageDefinition(
    name=TRACE,
    help="Stop after the jaxpr: what JAX made of the Python function.",
    run=run,
    event="/jax/core/compile/jaxpr_trace_duration",
    cache_hit=cache_hit,
    documents={"jaxpr": jaxpr},
    count=count,
    count_is_cheap=True,
    per_target=False,
)
