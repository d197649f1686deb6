"""The public face: `inspect` and the Inspection that it returns, with its tables, figures and forms."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.dtypes.dtype_table import Dtypes
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.core import stage_list, stages
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.given import given_checks
from jaxstage_ext.core.given.given_call import given_call, given_object
from jaxstage_ext.core.layout import meshes, specs
from jaxstage_ext.core.options import environment_check, option_sets
from jaxstage_ext.core.options.option_sets import OptionSet
from jaxstage_ext.core.stage_error import without_our_frames
from jaxstage_ext.core.stageable import with_self
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.target import LOCAL, Target, parse_all
from jaxstage_ext.core.targets.worker_requests import USUAL, Limits
from jaxstage_ext.ir.passes.pipeline import Pipeline
from jaxstage_ext.program import comparison, execution, reproducer, saved, summary
from jaxstage_ext.program.answers import answers
from jaxstage_ext.program.collectives import collectives
from jaxstage_ext.program.comparison_figures import target_figures
from jaxstage_ext.program.comparison_table import Comparison, TargetFigures
from jaxstage_ext.program.compile_options_table import options
from jaxstage_ext.program.cost import Costs, cost
from jaxstage_ext.program.difference_table import Differences, differences
from jaxstage_ext.program.dtypes import dtypes
from jaxstage_ext.program.earlier import beside, by_label, copies
from jaxstage_ext.program.effects import effects
from jaxstage_ext.program.kernel_types import Kernels
from jaxstage_ext.program.kernels import kernels
from jaxstage_ext.program.layouts import Layouts, layouts
from jaxstage_ext.program.memory import memory
from jaxstage_ext.program.passes import passes
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.reproducer import Reproducer
from jaxstage_ext.program.shardings import shardings
from jaxstage_ext.program.summary_form import Summary
from jaxstage_ext.report.document import Coverage, Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.table import Table

if TYPE_CHECKING:
    from jaxstage_ext.panel.page import WrittenPage
    from jaxstage_ext.panel.shown_timeline import ShownTimeline

Targets = str | Target | Iterable[str | Target]


def inspect(
    fn: Callable[..., Any],
    *args: Any,
    stage: str = "compile",
    target: Targets = "local",
    compiler_options: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    mesh: Any = None,
    in_specs: Any = (),
    out_specs: Any = None,
    isolate: bool | None = None,
    **kwargs: Any,
) -> Inspection:
    """Take `fn(*args, **kwargs)` through JAX's stages without running it.

    Args:
      fn: a function, a `jax.jit` object, or anything with `.trace` or `.lower`. Or what JAX made of one: a Traced,
        Lowered or Compiled of `jax.stages`, a `jax.export.Exported` or a ClosedJaxpr, which starts at its own stage.
      *args: arrays, `jax.ShapeDtypeStruct`s or pytrees of them. What JAX made has its own; a Compiled may be given
        those of a call, an Exported those whose sizes its symbolic axes take.
      stage: the last stage to run: "trace", "lower" or "compile".
      target: the target to compile for: "local", "cpu:8", "v5e:4x4", "h100:8", or a list of them. The Inspection is
        that of the first; its `targets` has all of them.
      compiler_options: XLA flags for the compile stage, by name, with or without the "xla_" prefix; or a list of such
        dicts, each of which it is compiled with, beside each other in `compare()` and `targets`.
      mesh: the mesh of the target's devices, which need not be in this machine: "data=4,model=2", a dict of such
        sizes, or a JAX mesh. The axes of a text or a dict are automatic.
      in_specs: PartitionSpecs of the arguments on `mesh`: a tuple in the order of the arguments, a dict by parameter
        name, or a single spec for every argument; each a prefix of its argument's pytree. None, or left out, is
        unspecified, as in `jax.jit`.
      out_specs: PartitionSpecs of the result on `mesh`, as `out_shardings` of `jax.jit`.
      isolate: whether a worker process compiles for "local" too, with a memory limit: True does so for every program,
        False for none, None for those with more StableHLO operations than `%config JAXStage.large_program`. What a
        worker compiles is shown in full, but cannot be run. A kernel with an accelerator compiles in itself.
      **kwargs: keyword arguments, like `args`. Bind an argument of `fn` that has the name of a parameter of `inspect`
        with `functools.partial`.

    Raises:
      ValueError: for an unknown `stage`; an unknown `target`, or one that needs a package that is not installed; an
        unknown compile option, an invalid value, or options with a `stage` before compile; a mesh that is larger than
        a target; a PartitionSpec that does not fit the mesh or its argument; XLA_FLAGS that XLA does not survive.
      Exception: what JAX raises for the function on the first target, without the frames of this package. Its
        attribute `inspection` has the stages that succeeded.
    """
    environment_check.check()
    compiled = stage_list.makes_executable(stage)
    if compiler_options and not compiled:
        raise ValueError(
            f"compiler_options need the compile stage, and stage={stage!r} stops before it; drop one of them"
        )
    sets, targets = option_sets.checked(compiler_options), parse_all(target)
    targets, limits = _isolated(targets, isolate)
    checked = sets[0].options
    given = given_object(fn, args, kwargs)
    if given is not None:
        given_checks.check(given, stage, checked, has_mesh=mesh is not None)
        return _inspected(given_call(given, compiler_options=checked), stage, targets, limits, sets)
    layout = meshes.layout(mesh, in_specs, out_specs, targets, compiled)
    call = Call(fn, args, kwargs, compiler_options=checked, layout=layout)
    specs.check(call)
    return _inspected(call, stage, targets, limits, sets)


def _isolated(targets: tuple[Target, ...], isolate: bool | None) -> tuple[tuple[Target, ...], Limits]:
    """The targets and limits that the argument of `inspect` means. Raises TypeError for what is not a bool."""
    if isolate is not None and not isinstance(isolate, bool):
        raise TypeError(f"isolate must be True, False or None, not {isolate!r}")
    if isolate:
        return tuple(map(cross_compile.isolated, targets)), USUAL
    return targets, Limits(large_here=isolate is False)


def _inspected(
    call: Call, stage: str, targets: Sequence[Target], limits: Limits, sets: Sequence[OptionSet]
) -> Inspection:
    """The Inspection of a call. Raises what a stage of it raises."""
    inspection = run(call, stage, targets=targets, limits=limits, sets=sets)
    if inspection.error is not None and (error := inspection.error.exception) is not None:
        error.inspection = inspection  # type: ignore[attr-defined]
        raise without_our_frames(error)
    return inspection


def run(
    call: Call,
    stage: str = "compile",
    on_change: Callable[[Inspection], None] | None = None,
    targets: Sequence[Target] = (LOCAL,),
    limits: Limits = USUAL,
    sets: Sequence[OptionSet] = (),
) -> Inspection:
    """The Inspection of a call for its first target; a stage that fails is recorded, not raised.

    `on_change` is called when a stage starts and when it ends.
    """
    inspections = prepare(call, stage, targets, limits, sets)
    for inspection in inspections:
        inspection.advance(functools.partial(on_change, inspection) if on_change else _nothing)
        if inspection.error is not None and inspection.error.interrupted:
            break
    return inspections[0]


def _nothing() -> None:
    pass


def prepare(
    call: Call,
    stage: str,
    targets: Sequence[Target] = (LOCAL,),
    limits: Limits = USUAL,
    option_sets: Sequence[OptionSet] = (),
    earlier: tuple[str, Inspection] | None = None,
) -> tuple[Inspection, ...]:
    """An Inspection for each target and set of compile options, nothing of it done yet.

    `earlier` is one that it is compared with, and what that is called. Raises TargetError where a package is missing.
    """
    for target in targets if stage_list.makes_executable(stage) else ():
        cross_compile.check(target)
    planned = stages.plan_each(with_self(call), stage, targets, limits, option_sets)
    programs = [Program(staged) for staged in planned]
    if earlier is None:
        return _inspections(by_label(programs))
    name, before = earlier
    return _inspections(beside(programs, list(before.program.targets.values()), name))


def _inspections(programs: Mapping[str, Program]) -> tuple[Inspection, ...]:
    """An Inspection of each target of one call."""
    inspections = {name: Inspection(program) for name, program in programs.items()}
    for inspection in inspections.values():
        inspection.targets = inspections
    return tuple(inspections.values())


class Inspection:
    """One call on one target, as JAX's stages saw it. Nothing here is computed before it is asked for.

    Attributes:
      program: what everything here is computed from.
      targets: the Inspection of each target that was asked for, this one among them; of each set of compile options
        too, by labels such as "-O 0" and "v5e:2x2 · -O 0".
    """

    targets: Mapping[str, Inspection]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.targets = {program.label: self}

    @staticmethod
    def of(program: Program) -> Inspection:
        """The Inspection of a program, with those of its other targets."""
        inspections = _inspections(program.targets)
        return next(inspection for inspection in inspections if inspection.program is program)

    @property
    def target(self) -> Target:
        """What the call is compiled for."""
        return self.program.target

    @property
    def call(self) -> Call:
        """The function and its arguments."""
        return self.program.call

    @property
    def name(self) -> str:
        """What the call is titled: the function's name, unless it was given another."""
        return self.program.name

    @property
    def stage(self) -> str:
        """The last stage that was asked for."""
        return self.program.stage

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each finished stage, by JAX's own events where it has them."""
        return self.program.seconds

    @property
    def elapsed(self) -> float | None:
        """Seconds that the running stage has taken so far; None where none runs."""
        return self.program.elapsed

    @property
    def traced(self) -> Any:
        """The `jax.stages.Traced` (or the library's own form of it); None if not reached."""
        return self.program.traced

    @property
    def lowered(self) -> Any:
        """The `jax.stages.Lowered` (or the library's own form of it); None if not reached."""
        return self.program.lowered

    @property
    def compiled(self) -> Any:
        """The `jax.stages.Compiled` (or the library's own form of it); None if not reached."""
        return self.program.compiled

    @property
    def error(self) -> StageError | None:
        """The failure of a stage, or of a run that died of memory; None where nothing failed."""
        return self.program.error

    @property
    def ran_out(self) -> StageError | None:
        """The failure of a run that died of memory."""
        return self.program.ran_out

    @property
    def documents(self) -> Mapping[str, Document]:
        """The documents of the stages that were reached, by kind: "python", "jaxpr", "stablehlo", "hlo"."""
        return self.program.documents

    @property
    def frames(self) -> Frames:
        """The call stacks of all documents."""
        return self.program.frames

    @property
    def coverage(self) -> Coverage | None:
        """How much of the last stage's document is linked to source; None before there is one."""
        return self.program.coverage

    def advance(self, on_change: Callable[[], None] = _nothing) -> None:
        """Run the stages that wait. A failure is kept in `error`, not raised."""
        self.program.advance(on_change)

    def execute(self) -> Any:
        """Run the executable on the call's own arguments, wait, and give its value.

        Raises ValueError when there is none, or when an argument is a shape alone. A run that dies of memory is also
        kept in `error`.
        """
        return execution.execute(self.program)

    @property
    def answers(self) -> Table:
        """What bounds it, does it fit, which line holds the most memory, which collective costs the most.

        Each is answered in a sentence.

        Compiles once more for memory and for what caused the collectives; what has no answer says why.
        """
        return answers(self.program)

    @property
    def cost(self) -> Costs:
        """FLOPs and bytes of each instruction, by line and scope too; what XLA counts; what bounds the program.

        Of a program that was only traced or lowered, `.equations` of the jaxpr alone; the rest raises ValueError.
        """
        return cost(self.program)

    def roofline(self) -> Any:
        """The instructions under the target's roofline as a `plotly.graph_objects.Figure`."""
        from jaxstage_ext.views import figures

        return figures.roofline(self.cost.roofline)

    @property
    def memory(self) -> Memory:
        """Live bytes over the schedule, what lives at the worst moment, does it fit, arguments and results.

        The first time it compiles once more, in a worker process, also where the compile ran out of memory.
        """
        return memory(self.program)

    def memory_figure(self, space: str | int = 0) -> Any:
        """Live bytes over the schedule as a `plotly.graph_objects.Figure`. Raises ImportError without plotly."""
        from jaxstage_ext.views import memory_figure

        return memory_figure.figure(self.memory, space)

    @property
    def shardings(self) -> Shardings:
        """Which device holds which slice of every argument and result; `.intermediates` of what lies between.

        Raises ValueError where nothing was lowered.
        """
        return shardings(self.program)

    def sharding_figure(self, name: str) -> Any:
        """Which device holds which slice of an argument, a result or an intermediate, as a plotly Figure.

        A grid of two mesh axes with a slider for the others. Raises KeyError where no value has that name.
        """
        return self.shardings.figure(name)

    @property
    def collectives(self) -> Collectives:
        """What the devices exchange, the costliest first: groups, bytes, time, source line, and what caused it.

        The compiler is asked once more for the cause. Raises ValueError where nothing was compiled.
        """
        return collectives(self.program)

    def collectives_figure(self) -> Any:
        """A bar for each collective, the costliest on top, as a plotly Figure. Raises ImportError without plotly."""
        from jaxstage_ext.views import collectives_figure

        return collectives_figure.figure(self.collectives)

    @property
    def dtypes(self) -> Dtypes:
        """Where values change their dtype, with the bytes that costs. Raises ValueError where nothing was traced."""
        return dtypes(self.program)

    @property
    def layouts(self) -> Layouts:
        """How arguments and results lie in memory, and copies that change it. Raises Unavailable before a compile."""
        return layouts(self.program)

    @property
    def effects(self) -> Table:
        """Callbacks, ordered effects, moves to the host and work on it. Raises Unavailable where nothing was traced."""
        return effects(self.program)

    def dtypes_figure(self) -> Any:
        """Bytes that values grow by where their dtype changes, by line, as a `plotly.graph_objects.Figure`."""
        from jaxstage_ext.views import dtypes_figure

        return dtypes_figure.figure(self.dtypes)

    @property
    def passes(self) -> Pipeline:
        """The passes of XLA's pipeline. The first time it compiles once more, in a worker process.

        Raises Unavailable where that cannot be, with the reason; and what such a compile raises.
        """
        return passes(self.program)

    @property
    def kernels(self) -> Kernels:
        """The machine code, kernel by kernel. The first time it compiles once more, in a worker process.

        Raises Unavailable where nothing was compiled, and what such a compile raises.
        """
        return kernels(self.program)

    @property
    def timeline(self) -> ShownTimeline:
        """What ran when, of the newest profile. Raises Unavailable where the call was not profiled."""
        from jaxstage_ext.panel import shown_timeline

        return shown_timeline.shown(self.program)

    def row(self) -> TargetFigures:
        """The row of `compare` for this target."""
        return target_figures(self.program)

    def compare(self, before: Inspection | None = None) -> Comparison:
        """The call's targets side by side: does it fit, memory, FLOPs, bytes, lower bounds, collectives.

        `before` is an inspection whose figures stand below, as those of an earlier version of the function.
        """
        from jaxstage_ext.views.shown_comparison import ShownComparison

        program = self.program
        if before is not None:
            others = list(before.program.targets.values())
            program = next(iter(beside(copies(program.targets), others, "before").values()))
        return ShownComparison.of_table(comparison.comparison(program))

    def difference(self, before: Inspection) -> Differences:
        """How the stages differ from those of another inspection; `.text("hlo")` are the lines."""
        return differences(before.program, self.program)

    def summary(self) -> Summary:
        """What heads every view: plain JSON types only. Cheap while stages still run."""
        return summary.summary(self.program)

    @property
    def options(self) -> Table:
        """The compile options that XLA is given where they differ from its defaults, and what set each.

        Raises Unavailable where nothing was lowered.
        """
        return options(self.program)

    def flag_table(self) -> dict[str, Any]:
        """All of XLA's flags, and what each is set to for this call: plain JSON types only."""
        return summary.flag_table(self.program)

    def worker_log(self) -> str:
        """The end of what the process that compiles for this target has printed; empty where it printed nothing."""
        return self.program.worker_log()

    def to_json(self, source: bool | None = None) -> str:
        """Everything but JAX's objects, of all targets, as versioned JSON.

        Of your source it holds the functions that took part and the line of the call, with paths from the notebook's
        folder or the package on; `source=False` leaves their text out and keeps line numbers and the names of
        functions. None is as `%config JAXStage.save_source` says. Documents that hold more than
        `report.saved_form.LARGEST` characters together are left out, which the summary's notes say.
        """
        return json.dumps(saved.report(self.program, self.program.targets, source))

    @staticmethod
    def from_json(text: str) -> Inspection:
        """The Inspection that `to_json` wrote, with its targets. Raises ValueError for anything else."""
        return Inspection.of(saved.opened(text))

    def to_html(
        self,
        path: str | os.PathLike[str],
        source: bool | None = None,
        all: bool = False,  # noqa: A002
    ) -> WrittenPage:
        """Write one self-contained offline page with the interactive panel; gives its path and its size in bytes.

        It holds what `to_json` holds and the tabs whose figures are known; `all=True` computes the others first, which
        compiles once more for some. It leaves the source out in the same way with `source=False`.
        """
        from jaxstage_ext.panel import page

        return page.write(list(self.program.targets.values()), path, source, all)

    def reproducer(self, folder: str | os.PathLike[str]) -> Reproducer:
        """Write a folder that compiles the program again with jaxlib alone, for a bug report to XLA.

        It holds StableHLO, compile options, `repro.py` and the HLO that this gives, without lines and names of your
        source, and with random values in place of constants. Compiles once more in a worker.

        Raises FileExistsError where the folder holds something, Unavailable where nothing was lowered, and what such a
        compile raises.
        """
        return reproducer.write(self.program, folder)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxstage_ext.panel import display

        return display.mimebundle(list(self.program.targets.values()))

    def __repr__(self) -> str:
        from jaxstage_ext.views import text

        return str(text.panel_text(list(self.program.targets.values())))
