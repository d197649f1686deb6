"""One staged call, and everything that facts about it are computed from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np

from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.core import cached_executable
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.given import lacking_stage
from jaxstage_ext.core.jax_private import xla_executables
from jaxstage_ext.core.stage import stage_list, stages
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER, TRACE
from jaxstage_ext.core.stage.stage_error import explain
from jaxstage_ext.core.stage.staged import WAITING
from jaxstage_ext.core.staleness.traced_versions import OldVersion
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.core.targets.worker_requests import Limits
from jaxstage_ext.ir import cached_documents, parse_errors, python
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo.places.cached_places import CachedPlaces
from jaxstage_ext.ir.lazy_documents import Documents
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.profiling.capture.capture_facts import CaptureFacts
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program import origin
from jaxstage_ext.program.device import xla_statistics
from jaxstage_ext.program.device.xla_statistics import MemoryStatistics
from jaxstage_ext.program.questions import foreign_targets
from jaxstage_ext.program.results import FactResults
from jaxstage_ext.program.source import source_places, version_wording
from jaxstage_ext.report.document import Coverage, Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.recording import Recording
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.analysis.sharding.value_tables import Shardings
    from jaxstage_ext.core.recompile.recompiled_buffers import Assigned
    from jaxstage_ext.ir.dumps.dump_index import DumpedModule
    from jaxstage_ext.processes.staged.staged_processes import StagedProcesses
    from jaxstage_ext.program.head.summary_form import FigureSummary, Summary
    from jaxstage_ext.program.program_elsewhere import ProgramElsewhere


NO_DEVICE = "no device"
"""The platform where none is known."""


def _nothing() -> None:
    pass


def _with_public_paths(read: Callable[[], Document]) -> Document:
    """The document, whose text has paths as others may see them."""
    document = read()
    text = public_folders(document.text)
    return document if text == document.text else replace(document, text=text)


class Program:
    """One call on one target, as far as its stages got. Nothing here is computed before it is asked for.

    Attributes:
      staged: the stages, and how far each is.
      origin: where and when it was made.
      targets: the Program of each target of the call by its label, this one among them; also of each set of compile
        options, and of an earlier version, that it is compared with.
      label: what tells it from those.
      documents: "python", "jaxpr", "stablehlo", "hlo" -> Document, those reached.
      frame_table: the call stacks of all documents, to which each document that is read adds its own.
      results: what facts have computed.
      opened: programs that were opened from its tabs, oldest first; the panel shows them beside it.
      ran_out: the failure of a run that died of memory.
      saved_summary: the summary of a program that was read from a saved report; else None.
      saved_comparison: the saved table of the targets of such a program, of which `saved_row` is its own; else None.
      saved_shardings: of a program that was read from a saved report, where it held them; else None.
      timeline: of its newest profile; None until it is profiled.
      is_earlier: whether it was inspected before the others, which are compared with it.
      processes: how each process of a job has staged the call, where it was staged there; None otherwise.
      elsewhere: the process that holds its objects, where that is not this one; None otherwise.
      is_foreign: whether another process may have written it.
      is_optimised: whether its HLO is what XLA's passes left; HLO in a file may be of before them.
      captured: how that profile was made; None where another program made it.
      tab: of a view of the kernel the name of its only tab; "" of a call.
      record: of a program that was opened from the compile log its line there; None otherwise.
      recording: of a program that a profile made known, what was recorded; None otherwise.
      dump: of a module that XLA dumped, what it dumped of it; None otherwise.
      own_device: what its device is called where nothing tells which one it is, "the device of the file"; "" otherwise.
      file_title: of a module out of a file, whose text alone tells its arguments and results, what it is called; or "".
    """

    tab: ClassVar[str] = ""
    own_device: ClassVar[str] = ""
    file_title: str = ""
    record: CompileRecord | None = None
    recording: Recording | None = None
    dump: DumpedModule | None = None
    saved_summary: Summary | None = None
    saved_comparison: Mapping[str, Any] | None = None
    saved_row: int = 0
    saved_shardings: Shardings | None = None
    processes: StagedProcesses | None = None
    elsewhere: ProgramElsewhere | None = None
    is_foreign: bool = False
    is_optimised: bool = True
    is_earlier: bool = False

    def __init__(self, staged: stages.Staged) -> None:
        self.staged = staged
        self.origin = origin.here()
        self.label = staged.label or str(staged.target)
        self.targets: Mapping[str, Program] = {self.label: self}
        self.frame_table = FrameTable(source_places.inspected_package(staged.call), staged.sources)
        self.results = FactResults()
        self.ran_out: StageError | None = None
        self.timeline: Timeline | None = None
        self.captured: CaptureFacts | None = None
        self.opened: list[Program] = []
        self.documents: Mapping[str, Document] = Documents(self._readers)

    @property
    def target(self) -> Target:
        """What the call is compiled for."""
        return self.staged.target

    def check_here(self) -> None:
        """Raise Unavailable where another process holds what it is computed from."""
        if self.elsewhere is not None:
            raise Unavailable(f"{self.name}: {self.elsewhere.why_not_here}")

    @property
    def other_target(self) -> str:
        """The target where a call is not compiled for the kernel's own devices, so that it is not run; else ""."""
        return "" if self.target.is_local else str(self.target)

    @property
    def call(self) -> Call:
        """The function and its arguments."""
        return self.staged.call

    @property
    def limits(self) -> Limits:
        """How long a compile in a worker may take, and how much memory."""
        return self.staged.limits

    @property
    def name(self) -> str:
        """What the call is titled."""
        return stages.call_name(self.call)

    @property
    def is_of_file(self) -> bool:
        """Whether it is a module out of a file: nothing of it is run here."""
        return self.is_foreign or (self.call.given is not None and self.call.given.is_file)

    @property
    def is_to_be_partitioned(self) -> bool:
        """Whether it is HLO of before XLA's partitioner, which makes of it what each of several devices runs."""
        return not self.is_optimised and self.call.given is not None and self.call.given.partitions > 1

    @property
    def platform(self) -> str:
        """What it is compiled for, "cpu", "gpu" or "tpu", as XLA names flags; NO_DEVICE where that is unknown."""
        if not self.target.is_local:
            return "gpu" if self.target.platform == "cuda" else self.target.platform
        try:
            return jax.default_backend()
        except Exception:  # JAX_PLATFORMS may name a platform whose plugin fails in its own way
            return NO_DEVICE

    @property
    def own_signature(self) -> str | None:
        """The call in one line, where it isn't the arguments that tell it; None where they do."""
        return None

    @property
    def own_title(self) -> str | None:
        """What it is compiled for, in words, where it isn't the target that tells it; None where it does."""
        return None

    @property
    def own_notes(self) -> Sequence[str] | None:
        """All that a reader has to know of it, of a view of the kernel; None of a call."""
        return None

    def own_figures(self) -> Sequence[FigureSummary] | None:
        """The figures that head a view of the kernel; None of a call."""
        return None

    @property
    def missing(self) -> tuple[str, ...]:
        """The documents that were made and that nobody kept, by name."""
        return ()

    @property
    def can_be_recompiled(self) -> bool:
        """Whether a worker can compile it once more: a given executable holds too little for that."""
        given = self.call.given
        return self.executable is not None and (given is None or not stage_list.makes_executable(given.stage))

    @property
    def is_compiled_here(self) -> bool:
        """Whether its last stage compiles, with options that are known."""
        return bool(self.stage) and stage_list.makes_executable(self.stage)

    @property
    def has_assignment(self) -> bool:
        """Whether it is a file that holds XLA's buffer assignment."""
        return False

    def held_assignment(self) -> Assigned | None:
        """The buffer assignment of a file; None where a compile gives it. Raises Unavailable where a file has none."""
        return None

    def held_dump(self) -> DumpedModule | None:
        """What XLA dumped of the module in a file; None where a compile dumps it. Raises Unavailable of a lone file."""
        return None

    @property
    def stage(self) -> str:
        """The last stage that was asked for; "" where none was, as of a profile alone."""
        return self.staged.stages[-1].name if self.staged.stages else ""

    @property
    def is_running(self) -> bool:
        """Whether a stage runs at this moment."""
        return any(stage.state == stages.RUNNING for stage in self.staged.stages)

    @property
    def under_way(self) -> str | None:
        """What is waited for while stages are left to run, such as "compiling…"; None where none will run."""
        if self.staged.failed is not None or all(s.state not in (WAITING, stages.RUNNING) for s in self.staged.stages):
            return None
        running = [s for one in (self, *self.targets.values()) for s in one.staged.stages if s.state == stages.RUNNING]
        return f"{running[0].name.rstrip('e')}ing…" if running else None

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each finished stage, by JAX's own events where it has them."""
        return {s.name: s.seconds for s in self.staged.stages if s.seconds is not None}

    @property
    def elapsed(self) -> float | None:
        """Seconds that the running stage has taken so far; None where none runs."""
        return next((s.elapsed for s in self.staged.stages if s.elapsed is not None), None)

    @property
    def traced(self) -> Any:
        """The `jax.stages.Traced` (or the library's own form of it); None if not reached."""
        return self.staged.value(TRACE)

    @property
    def old_versions(self) -> tuple[OldVersion, ...]:
        """The functions that JAX did not trace anew though what they name has changed."""
        stage = self.staged.stage(TRACE)
        return stage.old_versions if stage is not None else ()

    @property
    def lowered(self) -> Any:
        """The `jax.stages.Lowered` (or the library's own form of it); None if not reached."""
        return self.staged.value(LOWER)

    @property
    def compiled(self) -> Any:
        """The `jax.stages.Compiled` (or the library's own form of it); None if not reached."""
        return self.staged.value(COMPILE)

    @property
    def jax_traced(self) -> Any:
        """JAX's own `Traced`, inside a library's form of it too; None where JAX itself traced nothing."""
        return stages.unwrap(self.traced)

    @property
    def jax_lowered(self) -> Any:
        """JAX's own `Lowered`, inside a library's form of it too; None where JAX itself lowered nothing."""
        lowered = stages.unwrap(self.lowered)
        return lowered if isinstance(lowered, jax.stages.Lowered) else None

    @property
    def executable(self) -> Any:
        """JAX's own `Compiled`, or the worker's `Executable` for another target; None where there is neither."""
        return stages.unwrap(self.compiled)

    @property
    def error(self) -> StageError | None:
        """The failure of a stage, or of a run that died of memory."""
        failed = self.staged.failed
        if failed is None or (error := failed.error) is None:
            return self.ran_out
        return self.results.once(("error", failed.name), lambda: self._explained(failed.name, error))

    def _explained(self, stage: str, error: BaseException) -> StageError:
        explained = explain(stage, error)
        if not stage_list.makes_executable(stage):
            return explained
        return foreign_targets.located(self.jax_traced, self.frame_table, explained)

    def advance(self, on_change: Callable[[], None] = _nothing) -> None:
        """Run the stages that wait. A failure is kept in `error`, not raised."""
        stages.run(self.staged, on_change)
        self.compile_record()  # the log keeps executables, by which it is found, for a short time

    def compile_record(self) -> CompileRecord | None:
        """The line of the compile log that made the executable; None where the log does not hold it."""
        if not isinstance(self.executable, jax.stages.Compiled):
            return None
        return self.results.once("compile record", lambda: LOG.of_executable(self.executable.runtime_executable()))

    def worker_log(self) -> str:
        """The end of what the process that compiles for this target has printed; empty where it printed nothing."""
        from jaxstage_ext.worker import pool  # it needs Unix

        return pool.log("cpu" if self.target.is_local else self.target.platform)

    @property
    def frames(self) -> Frames:
        """The call stacks of all documents, which are read for it."""
        for kind in self.documents:
            self.documents.get(kind)
        return self.frame_table.freeze()

    @property
    def readable(self) -> dict[str, Document]:
        """The documents, which are read for it, without those that cannot be."""
        return {kind: document for kind in self.documents if (document := self.documents.get(kind)) is not None}

    @property
    def coverage(self) -> Coverage | None:
        """How much of the last stage's document is linked to source; None before there is one."""
        last = [kind for kind in self.documents if kind != "python"]
        document = self.documents.get(last[-1]) if last else None
        return document.coverage if document is not None else None

    @property
    def definition(self) -> tuple[str, int] | None:
        """(file, line) of the function; None if it is not the user's own code."""
        places = source_places.first_places(self.call, self.error)
        return (places[-1][0], places[-1][1].line) if places else None

    @property
    def has_hlo(self) -> bool:
        """Whether there is an optimised module."""
        if isinstance(self.executable, Executable):
            return self.executable.proto is not None
        return self.xla_module is not None

    def proto(self) -> bytes:
        """The optimised module, serialised. Raises Unavailable where there is none."""
        proto = self.executable.proto if isinstance(self.executable, Executable) else None
        if proto is None and self.xla_module is not None:
            proto = xla_executables.hlo_proto(self.xla_module)
        if proto is None:
            how = lacking_stage.how_to_compile(self.call)
            if (error := self.error) is not None:
                how = f"its {error.stage} failed: {parse_errors.one_line(error.message) or error.type}"
            raise Unavailable(f"{self.name} has no optimised HLO to count; {how}")
        return proto

    @property
    def module(self) -> hlo.Module:
        """The optimised module, parsed once. Raises Unavailable where there is none."""
        return self.results.once("module", self._parsed)

    def _parsed(self) -> hlo.Module:
        try:
            return cached_documents.value(self.key("columns"), lambda: hlo.parse(self.proto()), hlo.size)
        except Unavailable:
            raise
        except ValueError as error:
            if not self.is_of_file:
                raise
            raise Unavailable(f"the HLO of {self.name} cannot be read: {error}") from None

    @property
    def memory_statistics(self) -> MemoryStatistics:
        """XLA's memory statistics of the executable."""
        return self.results.once("memory statistics", self._read_statistics)

    def _read_statistics(self) -> MemoryStatistics:
        key = self.key("memory statistics")
        return cached_documents.value(key, lambda: xla_statistics.of(self.executable), lambda _: 4000)

    def key(self, what: str) -> str | None:
        """Under which key the inspection cache keeps something of the optimised module.

        None where it is not known to be the module of an earlier compile.
        """
        stage = self.staged.stage(COMPILE)
        return f"{what} {stage.key}" if stage is not None and stage.key else None

    @property
    def xla_module(self) -> Any:
        """XLA's own module, of a compile in this process; asked for once, since plugins serialise it each time."""
        compiled = self.executable
        if not isinstance(compiled, jax.stages.Compiled):
            return None
        return self.results.once("xla_module", lambda: next(iter(xla_executables.hlo_modules(compiled)), None))

    def cached_places(self) -> CachedPlaces | None:
        """The places of an executable that was compiled from an earlier program; None where they are its own."""
        return cached_executable.places(self)

    def _readers(self) -> dict[str, Callable[[], Document]]:
        readers: dict[str, Callable[[], Document]] = {}
        given = self.call.given
        is_there = given is not None and self.staged.value(given.stage) is not None
        if self.jax_traced is not None or self.error is not None or is_there:
            readers["python"] = self._read_python
        for stage in self.staged.stages:
            for kind, reader in stage_list.definition(stage.name).documents.items():
                if (read := reader(self)) is not None:
                    readers[kind] = functools.partial(_with_public_paths, read)
        return readers

    def _read_python(self) -> Document:
        documents = [d for kind in self.documents if kind != "python" and (d := self.documents.get(kind)) is not None]
        self.frame_table.remarks = version_wording.titles(self.old_versions)
        first, frames = source_places.first_places(self.call, self.error), self.frame_table.freeze()
        shown = source_places.shown_frames(frames, documents, source_places.inspected_package(self.call))
        callers = source_places.caller_frames(self.call, frames, documents)
        files = [frames.files[file] for file in np.unique(frames.file[shown]).tolist()]
        first += source_places.call_places(self.call, files)
        return python.read(frames, self.frame_table, shown, first, alone=callers.tolist())
