"""From StableHLO to an executable: by JAX in this kernel, or by a worker for a target that is not here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER, TRACE, StageDefinition, StagedProgram

if TYPE_CHECKING:
    from jaxstage_ext.core.executables import ReusableExecutable
    from jaxstage_ext.core.jax_private.jax_options import ConfiguredOptions
    from jaxstage_ext.core.safety.large_program import LargeProgram
    from jaxstage_ext.core.stage.events import Heard
    from jaxstage_ext.core.stage.staged import CacheHit, Stage, Staged
    from jaxstage_ext.report.document import Document
    from jaxstage_ext.worker.compile_environment import CompileEnvironment


def run(staged: Staged, stage: Stage) -> Any:
    """The `jax.stages.Compiled` of a local target, or the Executable of another one."""
    from jaxstage_ext.core.jax_private import jax_options
    from jaxstage_ext.core.safety import crash_risk

    staged.environment, staged.configured = _environment(staged), jax_options.configured_options()
    if not staged.target.is_local:
        return _cross_compile(staged, stage)
    staged.large = crash_risk.large(staged)
    return _compile_here(staged, stage) if staged.large is None else _compile_large(staged, stage, staged.large)


def _environment(staged: Staged) -> CompileEnvironment:
    from jaxstage_ext.core.stage.stageable import unwrap
    from jaxstage_ext.core.targets import cross_compile, prepared

    lowered, given = unwrap(staged.value(LOWER)), staged.call.compiler_options
    return prepared.environment_of(
        lowered, cross_compile.here(staged.target) if staged.target.is_local else staged.target, given
    )


def _compile_here(staged: Staged, stage: Stage) -> Any:
    from jaxstage_ext.core import executables
    from jaxstage_ext.core.inputs import constants
    from jaxstage_ext.core.jax_private import given_options
    from jaxstage_ext.core.options import flag_values
    from jaxstage_ext.core.safety import crash_risk
    from jaxstage_ext.core.stage.stageable import unwrap
    from jaxstage_ext.core.stage.staged import Cache, CacheHit

    crash_risk.survive(staged)
    lowered, options = staged.value(LOWER), staged.call.compiler_options
    held = constants.constant_bytes(unwrap(staged.value(TRACE)))
    with given_options.hear_options() as heard:
        done = executables.compile(unwrap(lowered), lambda: flag_values.compile_lowered(lowered, options), held)
    made, stage.sharing = done.made, done.sharing
    staged.received = _received(staged, heard, made)
    if made is not None:
        stage.key, stage.seconds = made.key, made.took
        cache = Cache.PROCESS if made.took is None else Cache.JOB
        stage.hit = CacheHit(cache, made.seconds, made.process) if made.reused else None
    return done.value


def _received(
    staged: Staged, heard: Sequence[ConfiguredOptions], made: ReusableExecutable | None
) -> ConfiguredOptions | None:
    """What XLA was given: now, or at the compile whose executable JAX or this kernel had kept."""
    from jaxstage_ext.core.jax_private import given_options, lowered_modules
    from jaxstage_ext.core.options.build_options import for_xla
    from jaxstage_ext.core.stage.stageable import unwrap

    lowered = unwrap(staged.value(LOWER))
    if lowered is None:
        return heard[-1] if heard else None
    by_name = lowered_modules.own_options(lowered) | for_xla(staged.call.compiler_options)
    module = lowered_modules.module_of_lowered(lowered)
    given = heard[-1] if heard else made.given if made is not None else None
    if module is None:
        return given
    if given is not None:
        given_options.remember(module, by_name, given)
    return given_options.remembered(module, by_name)


def _compile_large(staged: Staged, stage: Stage, large: LargeProgram) -> Any:
    """The worker's Executable for the kernel's own devices, which becomes the target of what is asked later."""
    from jaxstage_ext.core.safety.large_program import HERE
    from jaxstage_ext.core.targets import cross_compile
    from jaxstage_ext.report.unavailable import Unavailable
    from jaxstage_ext.worker.request_errors import WorkerDied

    staged.target = cross_compile.here(staged.target)
    try:
        return _cross_compile(staged, stage)
    except WorkerDied as died:
        raise large.explained(died) from None
    except Unavailable as why:
        raise Unavailable(f"{why}. A worker was to compile it because {large.reason}; {HERE}") from None


def _cross_compile(staged: Staged, stage: Stage) -> Any:
    from jaxstage_ext.core.inputs import constants
    from jaxstage_ext.core.stage.stageable import unwrap
    from jaxstage_ext.core.stage.staged import Cache, CacheHit
    from jaxstage_ext.core.targets import cross_compile

    call, started = staged.call, time.perf_counter()
    spell_out = constants.spelled_out(unwrap(staged.value(TRACE)))
    lowered = unwrap(staged.value(LOWER))
    made = cross_compile.compile(
        lowered, call.fn, staged.target, staged.limits, spell_out, call.compiler_options, staged.environment
    )
    stage.key, stage.seconds = made.key, made.seconds
    if staged.configured is not None:
        staged.received = replace(staged.configured, options=made.options)
    if made.kept:
        stage.seconds, stage.hit = time.perf_counter() - started, CacheHit(Cache.INSPECTION, made.seconds, made.process)
    return made


def cache_hit(value: Any, event_seconds: float | None, heard: Heard) -> CacheHit | None:
    """A hit in JAX's persistent cache, or in its caches in memory; a worker's result tells of itself."""
    from jaxstage_ext.core.stage.staged import Cache, CacheHit
    from jaxstage_ext.core.targets.cross_compile import Executable

    if isinstance(value, Executable):
        return None
    if heard.cache_hits:
        return CacheHit(Cache.PERSISTENT)
    return CacheHit(Cache.PROCESS) if event_seconds is None else None


def hlo(program: StagedProgram) -> Callable[[], Document] | None:
    """How to read the optimised HLO; the same module is read once."""
    from jaxstage_ext.core import cached_executable
    from jaxstage_ext.core.inputs import constants
    from jaxstage_ext.ir import cached_documents
    from jaxstage_ext.ir.hlo import hlo_document

    if not program.has_hlo:
        return None
    table = program.frame_table

    def read() -> Document:
        spelled_out = constants.spelled_out(program.jax_traced)
        return cached_documents.document(
            program.key(f"hlo {spelled_out}"),
            lambda: hlo_document.read(
                _hlo_text(program, spelled_out),
                program.module,
                table,
                program.documents.get("stablehlo"),
                cached_executable.places(program),
            ),
            table,
        )

    return read


def _hlo_text(program: StagedProgram, spelled_out: bool) -> str:
    """XLA's text of the optimised module, from a worker or from this process."""
    from jaxstage_ext.core.jax_private import xla_executables
    from jaxstage_ext.core.targets.cross_compile import Executable

    executable = program.executable
    if isinstance(executable, Executable):
        return executable.text or ""
    return xla_executables.hlo_text(program.xla_module, spelled_out)


def count(program: StagedProgram) -> Mapping[str, int]:
    """The number of instructions of all computations, and how many of them are fusions."""
    return {"instr": len(program.module.names), "fusion": program.module.fusions} if program.has_hlo else {}


DEFINITION = StageDefinition(
    name=COMPILE,
    help="Go through to the optimised HLO and the executable: what the device runs.",
    run=run,
    event="/jax/core/compile/backend_compile_duration",
    cache_hit=cache_hit,
    documents={"hlo": hlo},
    count=count,
    makes_executable=True,
)
