"""The Inspection of a call, with its tables, figures and forms."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.dtypes.dtype_table import Dtypes
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.analysis.sharding.naming.dimension_tables import Dimensions
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.findings.found import Findings
from jaxstage_ext.findings.found import found as findings
from jaxstage_ext.ir.passes.pipeline import Pipeline
from jaxstage_ext.program.behaviour.call_dispatch import dispatch
from jaxstage_ext.program.behaviour.effects import effects
from jaxstage_ext.program.comparing import comparison
from jaxstage_ext.program.comparing.comparison_figures import target_figures
from jaxstage_ext.program.comparing.comparison_table import Comparison, TargetFigures
from jaxstage_ext.program.comparing.difference_table import Differences, differences
from jaxstage_ext.program.comparing.earlier import beside, copies
from jaxstage_ext.program.comparing.what_if import WhatIf, what_if
from jaxstage_ext.program.head import summary
from jaxstage_ext.program.head.summary_form import Summary
from jaxstage_ext.program.kinds import saved
from jaxstage_ext.program.machine_code.kernel_types import Kernels
from jaxstage_ext.program.machine_code.kernels import kernels
from jaxstage_ext.program.near.neighbourhood import Neighbourhood, neighbourhood
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.answers import answers
from jaxstage_ext.program.questions.collective_remedies import collective_remedies
from jaxstage_ext.program.questions.collectives import collectives
from jaxstage_ext.program.questions.compile_options_table import options
from jaxstage_ext.program.questions.cost import Costs, cost
from jaxstage_ext.program.questions.dtypes import dtypes
from jaxstage_ext.program.questions.layouts import Layouts, layouts
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.program.questions.named_dimensions import dimensions
from jaxstage_ext.program.questions.passes import passes
from jaxstage_ext.program.questions.shardings import shardings
from jaxstage_ext.program.running import execution, reproducer
from jaxstage_ext.program.running.reproducer import Reproducer
from jaxstage_ext.program.staged_call import StagedCall
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.text import brief_text

if TYPE_CHECKING:
    from jaxstage_ext.panel.showing.page import WrittenPage
    from jaxstage_ext.panel.showing.shown_prediction import ShownPrediction
    from jaxstage_ext.panel.showing.shown_timeline import ShownTimeline
    from jaxstage_ext.processes.staged.staged_processes import StagedProcesses


class Inspection(StagedCall):
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
    def each(programs: Mapping[str, Program]) -> tuple[Inspection, ...]:
        """An Inspection of each target of one call."""
        inspections = {name: Inspection(program) for name, program in programs.items()}
        for inspection in inspections.values():
            inspection.targets = inspections
        return tuple(inspections.values())

    @staticmethod
    def of(program: Program) -> Inspection:
        """The Inspection of a program, with those of its other targets."""
        inspections = Inspection.each(program.targets)
        return next(inspection for inspection in inspections if inspection.program is program)

    def execute(self) -> Any:
        """Run the executable on the call's own arguments, wait, and give its value.

        Raises ValueError when there is none, or when an argument is a shape alone. A run that dies of memory is also
        kept in `error`.
        """
        return execution.execute(self.program)

    @property
    def processes(self) -> StagedProcesses | None:
        """How each process of a job has staged the call, of `%%compile --processes`; None of any other inspection.

        `.groups` has the processes that came to the same, `.disagreements` why the others differ, `.seconds` how long
        each took for each stage, `.table()` a row a process; printed, it has the lines that differ too.
        """
        return self.program.processes

    @property
    def findings(self) -> Findings:
        """What to change, how much that gains, and why: the most first.

        What takes milliseconds; `.all()` looks for the kinds that take a compile too. `.findings[0].try_()` compiles
        the change and tells what it really gains.
        """
        self.program.check_here()
        return findings(self.program).seen_as(Inspection.of)

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
        from jaxstage_ext.views.charts import figures

        return figures.roofline(self.cost.roofline)

    @property
    def memory(self) -> Memory:
        """Live bytes over the schedule, what lives at the worst moment, does it fit, arguments and results.

        The first time it compiles once more, in a worker process, also where the compile ran out of memory.
        """
        return memory(self.program)

    def memory_figure(self, space: str | int = 0) -> Any:
        """Live bytes over the schedule as a `plotly.graph_objects.Figure`. Raises ImportError without plotly."""
        from jaxstage_ext.views.charts import memory_chart

        return memory_chart.figure(self.memory, space)

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
    def dimensions(self) -> Dimensions:
        """The named dimensions: sizes, the axes of arguments that they are, and what splitting each alone costs.

        Nothing is compiled and no mesh is needed. `.renamed({"d3": "hidden"})` has your names. Raises Unavailable where
        nothing was lowered, or XLA's partitioner does not take the program.
        """
        return dimensions(self.program)

    @property
    def collectives(self) -> Collectives:
        """What the devices exchange, the costliest first: groups, bytes, time, source line, and what caused it.

        The compiler is asked once more for the cause. Raises ValueError where nothing was compiled.
        """
        return collectives(self.program)

    def collectives_figure(self) -> Any:
        """A bar for each collective, the costliest on top, as a plotly Figure. Raises ImportError without plotly."""
        from jaxstage_ext.views.charts import collectives_chart

        return collectives_chart.figure(self.collectives)

    @property
    def collective_remedies(self) -> Table:
        """What was tried against each collective: other shardings of arguments and results, each compiled once more."""
        return collective_remedies(self.program)

    def near(self, name: str, hops: int = 1) -> Neighbourhood:
        """The neighbourhood of an instruction of the optimised HLO: operands, users, callers, lines, scopes and costs.

            ins.near("fusion.3")
            ins.near("all-gather-start", hops=2).table

        Args:
          name: of the instruction, or the `id` of a row of `cost.to_json(limit=…)`, which survives an edit.
          hops: how many operands or users away, 0 to 9.

        Its text has at most 4 kB, whatever the module's size. Raises ValueError, in one line with the nearest names,
        for one that is not there; Unavailable where nothing was compiled.
        """
        return neighbourhood(self.program, name, hops)

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

    @property
    def dispatch(self) -> Table:
        """What a call does before the program runs: each argument copied, moved or used as it is, and the fast path.

        Raises Unavailable where the call was not compiled in this kernel.
        """
        return dispatch(self.program)

    def dtypes_figure(self) -> Any:
        """Bytes that values grow by where their dtype changes, by line, as a `plotly.graph_objects.Figure`."""
        from jaxstage_ext.views.charts import dtypes_chart

        return dtypes_chart.figure(self.dtypes)

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
        from jaxstage_ext.panel.showing import shown_timeline

        return shown_timeline.shown(self.program)

    @property
    def predicted(self) -> ShownPrediction:
        """One call on one device of the target, as XLA predicts it before anything runs: a timeline.

        It is what XLA's latency-hiding scheduler believed when it ordered the instructions, from its tables of measured
        matmuls and collectives. It leaves out idle time of the host, launches, stragglers, contention among collectives
        and clocks below boost. Of a loop one iteration is drawn. `recording.prediction` says what it rests on.

        Raises Unavailable with the reason where XLA predicts nothing, as for a CPU, and what a compile raises.
        """
        from jaxstage_ext.panel.showing import shown_prediction

        return shown_prediction.shown(self.program)

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
            program = next(iter(beside(copies(program.targets), before.program, "before").values()))
        return ShownComparison.of_table(comparison.comparison(program))

    def difference(self, before: Inspection) -> Differences:
        """How the stages differ from those of another inspection; `.text("hlo")` are the lines."""
        return differences(before.program, self.program)

    def summary(self) -> Summary:
        """What heads every view: plain JSON types only. Cheap while stages still run."""
        return summary.summary(self.program)

    @property
    def options(self) -> Table:
        """The compile options that XLA was given where they differ from its defaults, and what set each.

        They are those of the compile that made the executable, whatever `jax.config` has become since; where nobody
        recorded it, those of `jax.config` are unknown. Raises Unavailable where nothing was lowered.
        """
        return options(self.program)

    def what_if(
        self,
        flags: Sequence[str | Mapping[str, Any]] | None = None,
        budget: float = 120.0,
        progress: Progress | None = None,
    ) -> WhatIf:
        """The same program under other sets of XLA flags, ranked by the estimate of its time.

        Each set is compiled in a worker for the same target, traced and lowered as it was; JAX's caches and settings
        stay as they are. A row says what changed: estimate, exposed collectives, memory, how many collectives and
        fusions. `.best.program` is the winner, `.table` all of them, the program as it is first.

        Args:
          flags: a set each, "xla_gpu_enable_latency_hiding_scheduler=false", several with spaces between them, or a
            mapping; None: those that matter for overlap and fusion on the platform.
          budget: seconds after which no further set is compiled.
          progress: called with the seconds and the set that is compiled, such as `print`; what it raises ends it.

        Raises ValueError, in one line, for a flag or a value that XLA does not have, and where nothing was lowered.
        """
        return what_if(self.program, flags, budget, progress)

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
        from jaxstage_ext.panel.showing import page

        return page.write(list(self.program.targets.values()), path, source, all)

    def reproducer(self, folder: str | os.PathLike[str]) -> Reproducer:
        """Write a folder that compiles the program again with jaxlib alone, for a bug report to XLA.

        It holds StableHLO, compile options, `repro.py` and the HLO that this gives, without lines and names of your
        source, and with random values in place of constants of more than 16 elements. Kernels of Pallas keep the names
        of their functions. Compiles once more in a worker.

        Raises FileExistsError where the folder holds something, Unavailable where nothing was lowered, and what such a
        compile raises.
        """
        self.program.check_here()
        return reproducer.write(self.program, folder)

    def _repr_llm_(self) -> str:
        """At most 2 kB for language models: verdict, figures, findings, and the expressions that give more.

        It compiles and runs nothing, and is equal for equal programs.
        """
        from jaxstage_ext.views.brief import inspection_brief

        return inspection_brief.inspection_brief(self.program)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxstage_ext.panel.showing import display

        if include and set(include) == {brief_text.MIME_TYPE}:
            return {brief_text.MIME_TYPE: self._repr_llm_()}
        return display.mimebundle(list(self.program.targets.values()))

    def _display_(self) -> Any:
        """What marimo shows: the live panel."""
        from jaxstage_ext.panel.showing import marimo_display

        return marimo_display.shown(list(self.program.targets.values()))

    def __repr__(self) -> str:
        from jaxstage_ext.views import text

        return str(text.panel_text(list(self.program.targets.values())))


def together(inspections: Sequence[Inspection]) -> Any:
    """What shows several inspections under one panel in a notebook, as `_repr_mimebundle_` does; None elsewhere."""
    from jaxstage_ext.panel.showing import display

    return display.mimebundle([one.program for one in inspections]) if display.in_notebook() else None
