"""A record of the compile log as a Program: what JAX made at the time is read, and nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from jaxstage_ext.compilation.events.kept_artefacts import MOST_KEPT
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, CompileRecord, StageName, StageRun
from jaxstage_ext.compilation.records.record_names import function_title
from jaxstage_ext.compilation.records.signature_text import signature_text
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.inputs import constants
from jaxstage_ext.core.jax_private import lowered_modules, xla_executables
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.core.stage.staged import DONE, FAILED, Cache, CacheHit, Stage, Staged
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.target import LOCAL
from jaxstage_ext.core.targets.worker_requests import USUAL
from jaxstage_ext.ir import stablehlo
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.unavailable import Unavailable


def logged_program(record: CompileRecord) -> LoggedProgram:
    """A record as a Program. Raises Unavailable where nothing of what JAX made is kept any more."""
    if missing := why_not_opened(record):
        raise Unavailable(missing)
    return LoggedProgram(record)


def why_not_opened(record: CompileRecord) -> str:
    """Why a record cannot be opened; "" where it can."""
    kept = record.artefacts
    if not (kept.jaxpr is None and kept.module is None and kept.executable is None):
        return ""
    if record.failed is not None:
        return f"#{record.number} failed before JAX had made anything of it: {record.failed}"
    return (
        f"the log keeps what JAX made of its newest {MOST_KEPT} compiles, and #{record.number} is not among them; "
        f"inspect the call itself with {_inspecting(record.name)}"
    )


def _inspecting(name: str) -> str:
    if not name.isidentifier():
        return typed("%compile", "jaxstage_ext.inspect")
    return typed(f"%compile {name}(...)", f"jaxstage_ext.inspect({name}, ...)")


class LoggedProgram(Program):
    """What JAX made when it compiled a call: its jaxpr, StableHLO and executable. The arguments are not kept."""

    record: CompileRecord

    def __init__(self, record: CompileRecord) -> None:
        self.record = record
        cell = f"In [{record.cell}]" if record.cell is not None else None
        call = Call(_function(record), name=record.name, cell=cell, compiler_options=dict(record.compiler_options))
        super().__init__(Staged(call, _stages(record), LOCAL, USUAL))
        kept = record.artefacts
        self._jaxpr, self._module, self._executable = kept.jaxpr, kept.module, kept.executable
        self._devices = len(kept.devices) or 1
        self.staged.received = kept.given
        self._traced = SimpleNamespace(jaxpr=self._jaxpr) if self._jaxpr is not None else None

    @property
    def missing(self) -> tuple[str, ...]:
        """What the log keeps nothing of, though JAX made it: the names of documents."""
        made = {"jaxpr": self._jaxpr, "StableHLO": self._module, "optimised HLO": self._executable}
        reached = [name for name, stage in zip(made, StageName, strict=True) if _is_reached(self.record, stage)]
        return tuple(name for name in reached if made[name] is None)

    @property
    def own_signature(self) -> str:
        """`step(f32[8,4], n=3)`, as the log has it."""
        return f"{function_title(self.record)}({signature_text(self.record)})"

    @property
    def jax_traced(self) -> Any:
        """The jaxpr as `.jaxpr`; there is no `jax.stages.Traced`."""
        return self._traced

    @property
    def can_be_recompiled(self) -> bool:
        """No: the compile log holds too little for that."""
        return False

    def compile_record(self) -> CompileRecord:
        return self.record

    @property
    def jax_lowered(self) -> None:
        """None: the log keeps the module alone."""

    @property
    def compiled(self) -> Any:
        return self.executable

    @property
    def executable(self) -> Executable | None:
        """The optimised module with XLA's figures. It cannot be run: its arguments are not kept."""
        return self.results.once("executable", self._read_executable) if self._executable is not None else None

    @property
    def has_hlo(self) -> bool:
        executable = self.executable
        return executable is not None and executable.proto is not None

    def _read_executable(self) -> Executable:
        kept, run = self._executable, self.record.stage(StageName.COMPILE)
        module = xla_executables.module_of_loaded(kept)
        return Executable(
            LOCAL,
            xla_executables.hlo_text(module, constants.spelled_out(self._traced)) if module is not None else None,
            xla_executables.hlo_proto(module) if module is not None else None,
            (run.seconds if run is not None else None) or 0.0,
            self._devices,
            (),
            _known(xla_executables.costs_of_loaded, kept),
            _known(xla_executables.memory_of_loaded, kept),
        )

    def _readers(self) -> dict[str, Callable[[], Document]]:
        readers = super()._readers()
        if self._module is None:
            return readers
        hlo = {"hlo": readers.pop("hlo")} if "hlo" in readers else {}
        return {**readers, "stablehlo": self._read_stablehlo, **hlo}

    def _read_stablehlo(self) -> Document:
        texts = lowered_modules.texts_of_module(self._module)
        document = stablehlo.read(*texts, self.frame_table, jaxpr=self.documents.get("jaxpr"))
        return replace(document, text=public_folders(document.text))


def _function(record: CompileRecord) -> Any:
    """The function that was given to `jax.jit`, as long as it lives."""
    known = record.function.ref() if record.function is not None and record.function.ref is not None else None
    return known if known is not None else _Gone()


class _Gone:
    """Stands for a function that is gone, or that JAX did not tell."""

    def __call__(self) -> Any:
        raise ValueError("the compile log keeps no arguments, so this cannot be run; call the function itself")


class LoggedFailure(Exception):
    """The failure of a stage, of which the log keeps the first line."""


def _is_reached(record: CompileRecord, stage: StageName) -> bool:
    """Whether JAX had what a stage makes, from an earlier call or from this one."""
    last = max((list(StageName).index(run.stage) for run in record.stages if not run.failed), default=-1)
    return list(StageName).index(stage) <= last


def _stages(record: CompileRecord) -> list[Stage]:
    kept = record.artefacts
    made = {StageName.TRACE: kept.jaxpr, StageName.LOWER: kept.module, StageName.COMPILE: kept.executable}
    runs = {run.stage: run for run in record.stages}
    return [_stage(name, runs.get(name), record) for name in StageName if name in runs or made[name] is not None]


def _stage(name: StageName, run: StageRun | None, record: CompileRecord) -> Stage:
    if run is None:
        return Stage(name.value, DONE, hit=CacheHit(Cache.PROCESS), value=record)
    if run.failed:
        return Stage(name.value, FAILED, run.seconds, error=LoggedFailure(record.failed or run.failed))
    return Stage(name.value, DONE, run.seconds, _hit(name, run, record), record)


def _hit(name: StageName, run: StageRun, record: CompileRecord) -> CacheHit | None:
    if run.was_cached:
        return CacheHit(Cache.PROCESS)
    facts = record.persistent
    if name.value == COMPILE and facts is not None and facts.outcome is CacheOutcome.HIT:
        return CacheHit(Cache.PERSISTENT, facts.compile_seconds)
    return None


def _known(ask: Callable[[Any], Any], executable: Any) -> tuple[Any, str | None]:
    """(what an executable says of itself, why it says nothing)."""
    try:
        return ask(executable), None
    except Exception as error:  # each backend has its own
        return None, f"this backend gives none: {error!s:.120}"
