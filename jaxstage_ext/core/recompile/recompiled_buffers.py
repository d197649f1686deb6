"""The buffer assignment of a program: asked of the worker once, then kept by the inspection cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from jaxstage_ext.core.recompile import buffers_here, preparation
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.ir.hlo import buffer_assignment, whole_module
from jaxstage_ext.report.progress import Progress


@dataclass(frozen=True)
class Assigned:
    """How a compile assigned its buffers."""

    platform: str
    """"cpu", "tpu" or "cuda"."""
    proto: bytes = field(repr=False)
    """A serialised HloProto."""
    stats: Mapping[str, int]
    """XLA's memory statistics of the executable; empty where there is none."""
    error: str | None = None
    """XLA's, of a compile that failed after buffers were assigned, because they did not fit."""


def recompile(staged: stages.Staged, progress: Progress | None = None) -> Assigned:
    """The buffer assignment that the program's compile gave; else it is compiled once more for it.

    The worker compiles it, or this process where it holds the device.

    `progress` is called with the seconds and the pass that is reached; what it raises ends the compile.

    Raises:
      Unavailable, TargetError, WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    if preparation.held_device(staged.target):
        return _compiled_here(staged)
    prepared = preparation.prepared(staged)
    if (executable := _with_assignment(staged)) is not None:
        return Assigned(prepared.target.platform, executable.assigned or b"", executable.memory[0] or {})
    platform, key = prepared.target.platform, prepared.key("memory")

    def recompile() -> Assigned:
        answer = prepared.recompile("memory", staged.limits, progress)
        made = Assigned(platform, answer["proto"], answer["stats"], answer["error"])
        cross_compile.keep_assignment(prepared, made.proto, made.stats, made.error)
        return made

    assigned, _ = prepared.once(key, partial(_read, prepared), recompile, staged.limits, progress)
    return assigned


def _compiled_here(staged: stages.Staged) -> Assigned:
    lowered = preparation.lowered_of(staged)
    preparation.check_configured(staged)
    proto, stats, error = buffers_here.compile_here(lowered, staged.call.compiler_options)
    return Assigned(cross_compile.platform_of(staged.target), proto, stats, error)


def came_with_compile(staged: stages.Staged) -> bool:
    """Whether the program's compile gave the buffer assignment, so that nothing is compiled for it."""
    return _with_assignment(staged) is not None


def _with_assignment(staged: stages.Staged) -> cross_compile.Executable | None:
    executable = preparation.worker_executable(staged)
    return executable if executable is not None and executable.assigned is not None else None


def _read(prepared: Prepared, head: Mapping[str, Any], parts: list[bytes]) -> Assigned:
    """What `recompile` made an entry of. Raises for anything else."""
    [proto], stats, error = parts, head["stats"], head["error"]
    if head.keys() != {"stats", "error"} or not isinstance(error, str | None):
        raise ValueError("not the head of a buffer assignment")
    if type(stats) is not dict or not {*map(type, stats.values())} <= {int}:
        raise ValueError(f"not XLA's memory statistics: {stats!r:.100}")
    proto = prepared.ours(proto)
    if (assignment := buffer_assignment.read(proto)) is None:
        raise ValueError("not a buffer assignment")
    whole_module.read(assignment.module)
    return Assigned(prepared.target.platform, proto, stats, error)
