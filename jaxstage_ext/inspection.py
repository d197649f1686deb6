"""What a magic returns: the stages of one call and everything that can be read from them, on demand."""

from __future__ import annotations

import functools
import inspect as _inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import jax

from jaxstage_ext.core import constants, jax_private, jaxpr_lines, stage_list, stages
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.layout import meshes, specs
from jaxstage_ext.core.options import flag_values, option_table
from jaxstage_ext.core.recompile.pass_pipeline import PassLook
from jaxstage_ext.core.stage_error import explain, without_our_frames
from jaxstage_ext.core.staged import COMPILE, LOWER, TRACE
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.target import LOCAL, Target, parse_all
from jaxstage_ext.core.targets.worker_requests import USUAL, Limits
from jaxstage_ext.ir import cached_documents, python, stablehlo
from jaxstage_ext.ir.hlo import document as hlo_document
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.lazy_documents import Documents
from jaxstage_ext.ir.passes.pipeline import Pipeline
from jaxstage_ext.ir.source import FrameTable, is_user
from jaxstage_ext.program import comparison, machine_code, out_of_memory, summary, xla_analyses
from jaxstage_ext.program.facts import Looks
from jaxstage_ext.program.kernels import Kernels
from jaxstage_ext.program.xla_analyses import Analyses
from jaxstage_ext.report import saved_form
from jaxstage_ext.report.document import Coverage, Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store import cache

Targets = str | Target | Iterable[str | Target]


def inspect(
    fn: Callable[..., Any],
    *args: Any,
    stage: str = "compile",
    target: Targets = "local",
    compiler_options: Mapping[str, Any] | None = None,
    mesh: Any = None,
    in_specs: Any = (),
    out_specs: Any = None,
    **kwargs: Any,
) -> Inspection:
    """Take `fn(*args, **kwargs)` through JAX's stages without running it.

    Args:
      fn: a function, a `jax.jit` object, or anything with `.trace` or `.lower`.
      *args: arrays, `jax.ShapeDtypeStruct`s or pytrees of them.
      stage: the last stage to run: "trace", "lower" or "compile".
      target: what to compile for: "local", "cpu:8", "v5e:4x4", "h100:8", or a list of them. The Inspection answers
        for the first; `targets` has them all.
      compiler_options: XLA flags by name, with or without "xla_", for the
        compile stage. An argument of `fn` with this name, or another of
        these, goes through `functools.partial`.
      mesh: "data=4,model=2", a dict of such sizes, or a mesh of JAX's: what the targets' devices form, none of them
        needed here. Axes are automatic where JAX did not make the mesh.
      in_specs: PartitionSpecs of the arguments on `mesh`: a tuple in their order, a dict by parameter name, or one for
        all; each a prefix of its argument's pytree. None, or left out, is unspecified, as in `jax.jit`.
      out_specs: the same of the result, as `out_shardings` of `jax.jit`.
      **kwargs: as `args`.

    Raises:
      ValueError: for another `stage`; for a `target` that cannot be, or lacks a package; for a compile option that
        XLA does not have, a value of another type, or one beside an earlier `stage`;
        for a mesh that is larger than a target, and a PartitionSpec that does not fit it or its argument.
      Exception: for the first target, whatever JAX raises for the function, without our frames. Its
        attribute `inspection` holds the stages that did work.
    """
    compiled = stage_list.makes_executable(stage)
    if compiler_options and not compiled:
        raise ValueError(f"compiler_options act on compile, and stage={stage!r} stops before it; drop one of them")
    checked, targets = flag_values.check(compiler_options or {}), parse_all(target)
    layout = meshes.layout(mesh, in_specs, out_specs, targets, compiled)
    call = Call(fn, args, kwargs, compiler_options=checked, layout=layout)
    specs.check(call)
    inspection = run(call, stage, targets=targets)
    if inspection.error is not None and (error := inspection.error.exception) is not None:
        error.inspection = inspection  # type: ignore[attr-defined]
        raise without_our_frames(error)
    return inspection


def run(
    call: Call,
    stage: str = "compile",
    on_change: Callable[[Inspection], None] | None = None,
    targets: Sequence[Target] = (LOCAL,),
) -> Inspection:
    """The Inspection of a call for its first target; a stage that fails is recorded, not raised.

    `on_change` is called when a stage starts and when it ends.
    """
    inspections = prepare(call, stage, targets)
    for inspection in inspections:
        inspection.advance(functools.partial(on_change, inspection) if on_change else _nothing)
        if inspection.error is not None and inspection.error.interrupted:
            break
    return inspections[0]


def _nothing() -> None:
    pass


def prepare(
    call: Call, stage: str, targets: Sequence[Target] = (LOCAL,), limits: Limits = USUAL
) -> tuple[Inspection, ...]:
    """An Inspection for each target, nothing of it done yet. Raises TargetError where a package is missing."""
    for target in targets if stage_list.makes_executable(stage) else ():
        cross_compile.check(target)
    made = tuple(Inspection(staged) for staged in stages.plan_each(call, stage, targets, limits))
    for inspection in made:
        inspection.targets = {str(other.target): other for other in made}
    return made


class Inspection(Looks):
    """One call, as JAX's stages saw it. Nothing here is computed before it is asked for.

    Attributes:
      documents: "python", "jaxpr", "stablehlo", "hlo" -> Document, those reached.
      targets: the Inspection of each target that was asked for, this one among them.
      ran_out: the failure of a run that died of memory.
    """

    targets: Mapping[str, Inspection]

    def __init__(self, staged: stages.Staged) -> None:
        self._staged = staged
        self.targets = {str(staged.target): self}
        self._table = FrameTable()
        self._module: Any = None
        self.ran_out: StageError | None = None
        self.documents: Mapping[str, Document] = Documents(self._readers)

    @property
    def target(self) -> Target:
        return self._staged.target

    @property
    def call(self) -> Call:
        return self._staged.call

    @property
    def name(self) -> str:
        return stages.call_name(self.call)

    @property
    def stage(self) -> str:
        """The last stage that was asked for."""
        return self._staged.stages[-1].name

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each finished stage, by JAX's own events where it has them."""
        return {s.name: s.seconds for s in self._staged.stages if s.seconds is not None}

    @property
    def elapsed(self) -> float | None:
        """Seconds that the running stage has taken so far; None where none runs."""
        return next((s.elapsed for s in self._staged.stages if s.elapsed is not None), None)

    @property
    def traced(self) -> Any:
        """The `jax.stages.Traced` (or the library's own form of it); None if not reached."""
        return self._staged.value(TRACE)

    @property
    def lowered(self) -> Any:
        """The `jax.stages.Lowered` (or the library's own form of it); None if not reached."""
        return self._staged.value(LOWER)

    @property
    def compiled(self) -> Any:
        """The `jax.stages.Compiled` (or the library's own form of it); None if not reached."""
        return self._staged.value(COMPILE)

    @property
    def error(self) -> StageError | None:
        failed = self._staged.failed
        return explain(failed.name, failed.error) if failed and failed.error is not None else self.ran_out

    @property
    def frames(self) -> Frames:
        """The call stacks of all documents."""
        for kind in self.documents:
            self.documents[kind]
        return self._table.freeze()

    def advance(self, on_change: Callable[[], None] = _nothing) -> None:
        """Run the stages that wait. A failure is kept in `error`, not raised."""
        stages.run(self._staged, on_change)

    def execute(self) -> Any:
        """Run the executable on the call's own arguments, wait, and give its value.

        Raises ValueError when there is none, or when an argument is a shape alone. A run that dies of memory is also
        kept in `error`.
        """
        if self.compiled is None:
            raise ValueError(f"{self.name} was not compiled, so it cannot be run; inspect it with stage='compile'")
        if isinstance(self.compiled, Executable):
            raise ValueError(f"{self.name} was compiled for {self.target} in another process, so it cannot be run here")
        args, kwargs = stages.dynamic_arguments(self._staged)
        self.ran_out = None
        try:
            return jax.block_until_ready(self.compiled(*args, **kwargs))  # type: ignore[no-untyped-call]
        except jax.errors.JaxRuntimeError as error:
            self.ran_out = out_of_memory.told(error, self.name)
            raise

    def _readers(self) -> dict[str, Callable[[], Document]]:
        readers: dict[str, Callable[[], Document]] = {}
        if stages.unwrap(self.traced) is not None or self.error is not None:
            readers["python"] = self._read_python
        if (traced := stages.unwrap(self.traced)) is not None:
            readers["jaxpr"] = lambda: jaxpr_lines.document(traced.jaxpr, self._table)
        if (lowered := stages.unwrap(self.lowered)) is not None:
            readers["stablehlo"] = lambda: self._read_stablehlo(lowered)
        if self._hlo_proto() is not None:
            readers["hlo"] = self._read_hlo
        return readers

    def _read_stablehlo(self, lowered: Any) -> Document:
        key = cache.key("stablehlo", jax_private.module_bytecode(lowered)) if cache.enabled() else None

        def read() -> Document:
            return stablehlo.read(*jax_private.stablehlo_texts(lowered), self._table)

        return cached_documents.document(key, read, self._table)

    def _read_python(self) -> Document:
        for kind in self.documents:
            if kind != "python":
                self.documents[kind]
        frames = self._table.freeze()
        return python.read(frames, self._table, self._first_places())

    def _first_places(self) -> list[tuple[str, int]]:
        """Where the reader starts: the line of the error, then the function itself."""
        places = []
        if self.error is not None and (span := self.error.span) is not None:
            places.append((span.file, span.line))
        fn = _inspect.unwrap(getattr(self.call.fn, "func", self.call.fn))
        code = getattr(getattr(fn, "__func__", fn), "__code__", None)
        if code is not None and is_user(code.co_filename):
            places.append((code.co_filename, code.co_firstlineno))
        return places

    def _key(self, what: str) -> str | None:
        """What of the optimised module is remembered; None where it is not known to be that of an earlier compile."""
        stage = self._staged.stage(COMPILE)
        return f"{what} {stage.key}" if stage is not None and stage.key else None

    @cached_property
    def _module_columns(self) -> hlo.Module:
        proto = self._hlo_proto()
        assert proto is not None
        return cached_documents.value(self._key("columns"), lambda: hlo.parse(proto()), hlo.size)

    def _hlo_proto(self) -> Callable[[], bytes] | None:
        """What gives the optimised module's proto; None where there is none."""
        compiled = stages.unwrap(self.compiled)
        if isinstance(compiled, Executable):
            proto = compiled.proto
            return None if proto is None else lambda: proto
        module = self._hlo_module
        return None if module is None else lambda: jax_private.hlo_proto(module)

    @property
    def _hlo_module(self) -> Any:
        """XLA's own module, of a compile in this process; asked for once, since plugins serialise it each time."""
        compiled = stages.unwrap(self.compiled)
        if self._module is None and isinstance(compiled, jax.stages.Compiled):
            self._module = next(iter(jax_private.hlo_modules(compiled)), None)
        return self._module

    @cached_property
    def pass_look(self) -> PassLook:
        """What views ask of the passes."""
        return PassLook(self._staged, self._table)

    @property
    def passes(self) -> Pipeline:
        """The passes of XLA's pipeline. The first look compiles once more, in the worker.

        Raises Unavailable where that cannot be, with the reason; and what such a compile raises.
        """
        return self.pass_look.pipeline()

    def _read_hlo(self) -> Document:
        spelled_out = constants.spelled_out(stages.unwrap(self.traced))
        key = self._key(f"hlo {spelled_out}")
        return cached_documents.document(key, lambda: self._hlo_document(spelled_out), self._table)

    def _hlo_document(self, spelled_out: bool) -> Document:
        compiled = stages.unwrap(self.compiled)
        if isinstance(compiled, Executable):
            text = compiled.text or ""
        else:
            text = jax_private.hlo_text(self._hlo_module, spelled_out)
        return hlo_document.read(text, self._module_columns, self._table)

    @cached_property
    def _facts(self) -> list[dict[str, str | None]]:
        """JAX's analyses of the executable, as every view shows them."""
        return summary.facts(self._analyses, stages.unwrap(self.compiled))

    @cached_property
    def _analyses(self) -> Analyses:
        """Of the executable; each takes XLA a walk over the whole module."""
        return cached_documents.value(
            self._key("analyses"), lambda: xla_analyses.of(stages.unwrap(self.compiled)), lambda _: 4000
        )

    @cached_property
    def _final_row(self) -> comparison.Row:
        return comparison.row(self)

    def row(self) -> comparison.Row:
        """The row of `compare` for this target."""
        ended = self.error is not None or all(s.state == stages.DONE for s in self._staged.stages)
        return self._final_row if ended else comparison.row(self)

    def compare(self) -> comparison.Table:
        """The call's targets side by side: does it fit, memory, FLOPs, kernels, collectives, estimates."""
        return comparison.table(list(self.targets.values()))

    @cached_property
    def kernels(self) -> Kernels:
        """The machine code, kernel by kernel; compiles the program once more, in the worker. See `machine.listing`."""
        return machine_code.listing(self)

    def look_at_kernels(self, progress: Progress) -> Kernels:
        """`kernels`, telling how far it is: about twice a second the time it took and the pass it has reached."""
        if "kernels" not in self.__dict__:
            self.__dict__["kernels"] = machine_code.listing(self, progress)
        return self.kernels

    def looked_at(self, kind: str) -> Document | None:
        """The module after a pass, "pass:12", or a kernel's text, "stage:kernel"; None where it was not read before."""
        if kind.startswith("pass:"):
            return self.pass_look.document(kind)
        return self.kernels.ready(kind) if "kernels" in self.__dict__ else None

    def summary(self) -> dict[str, Any]:
        """What heads every view: plain JSON types only. Cheap while stages still run."""
        return summary.of(self)

    def flag_table(self) -> dict[str, Any]:
        """All of XLA's flags, and what each is set to for this call: plain JSON types only."""
        return option_table.of(summary.options_of(self))

    def worker_log(self) -> str:
        """The end of what the process that compiles for this target has printed; empty where it printed nothing."""
        from jaxstage_ext.worker import pool  # it needs Unix

        return pool.log("cpu" if self.target.is_local else self.target.platform)

    @property
    def coverage(self) -> Coverage | None:
        """Of the last stage's document; None before there is one."""
        last = [kind for kind in self.documents if kind != "python"]
        return self.documents[last[-1]].coverage if last else None

    def to_json(self) -> str:
        """Everything but JAX's objects, of all targets, as versioned JSON.

        Documents that hold more than `serial.LARGEST` characters together are left out, which the summary's notes say.
        """
        parts = {name: (one.summary(), one.frames, one.documents) for name, one in self.targets.items()}
        return saved_form.dumps(parts, str(self.target), self.compare().to_dict())

    @staticmethod
    def from_json(text: str) -> Inspection:
        """The Inspection that `to_json` wrote, with its targets. Raises ValueError for anything else."""
        from jaxstage_ext.program.saved import opened

        return opened(text)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained offline page with the interactive panel."""
        from jaxstage_ext.panel import page

        page.write(list(self.targets.values()), path)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxstage_ext.panel import mimebundle

        return mimebundle.bundle(list(self.targets.values()))

    def __repr__(self) -> str:
        from jaxstage_ext.views import text

        return str(text.panel_text(list(self.targets.values())))
