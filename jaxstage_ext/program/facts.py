"""The tables that an Inspection has as attributes, each computed when it is first asked for."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.dtypes.dtype_table import Dtypes
from jaxstage_ext.analysis.margin.line_values import Lane
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program import answers, cost_inputs, margin
from jaxstage_ext.program import cost as costs
from jaxstage_ext.program import dtypes as typed
from jaxstage_ext.program import shardings as sharded
from jaxstage_ext.program.cost import Costs
from jaxstage_ext.program.memory import MemoryLook
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.table import Table

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


class Looks:
    """What `Inspection` is made of beside its stages and documents."""

    @property
    def _whole(self) -> Inspection:
        return cast("Inspection", self)

    @cached_property
    def _operations(self) -> Module:
        return cost_inputs.operations(self._whole)

    @cached_property
    def answers(self) -> Table:
        """What bounds it, does it fit, which line holds most memory, which collective costs most: a sentence each.

        Compiles once more for memory and for what caused the collectives; what has no answer says why.
        """
        return answers.table(self._whole)

    @cached_property
    def cost(self) -> Costs:
        """FLOPs and bytes of each instruction, by line and scope too; what XLA counts; what bounds the program.

        Of a program that was only traced or lowered, `.equations` of the jaxpr alone; the rest raises ValueError.
        """
        return costs.of(self._whole)

    def roofline(self) -> Any:
        """The instructions under the target's roofline as a `plotly.graph_objects.Figure`."""
        from jaxstage_ext.views import figures

        return figures.roofline(self.cost.roofline)

    @cached_property
    def shardings(self) -> Shardings:
        """Which device holds which slice of every argument and result; `.intermediates` of what lies between.

        Raises ValueError where nothing was lowered.
        """
        return sharded.read(self._whole)

    @cached_property
    def collectives(self) -> Collectives:
        """What the devices exchange, the costliest first: groups, bytes, time, source line, and what caused it.

        The compiler is asked once more for the cause. Raises ValueError where nothing was compiled.
        """
        return sharded.collectives(self._whole)

    def sharding_figure(self, name: str) -> Any:
        """Which device holds which slice of an argument, a result or an intermediate, as a plotly Figure.

        A grid of two mesh axes with a slider for the others. Raises KeyError where no value has that name.
        """
        return self.shardings.figure(name)

    def collectives_figure(self) -> Any:
        """A bar for each collective, the costliest on top, as a plotly Figure. Raises ImportError without plotly."""
        from jaxstage_ext.views import collectives_figure

        return collectives_figure.figure(self.collectives)

    @cached_property
    def dtypes(self) -> Dtypes:
        """Where values change their dtype, with the bytes that costs. Raises ValueError where nothing was traced."""
        return typed.read(self._whole)

    def dtypes_figure(self) -> Any:
        """Bytes that values grow by where their dtype changes, by line, as a `plotly.graph_objects.Figure`."""
        from jaxstage_ext.views import dtypes_figure

        return dtypes_figure.figure(self.dtypes)

    @cached_property
    def converts(self) -> bool:
        """Whether the jaxpr changes dtypes."""
        return typed.is_any(self._whole)

    @cached_property
    def _propagation(self) -> sharded.Asked:
        return sharded.ask_propagation(self._whole)

    def propagate(self, progress: Progress) -> None:
        """Ask for the shardings after propagation, telling how far that is. Raises as `shardings.intermediates`."""
        with self._asking:  # views may ask at the same time
            if "_propagation" not in vars(self):
                self._propagation = sharded.ask_propagation(self._whole, progress)

    @cached_property
    def _asking(self) -> threading.Lock:
        return threading.Lock()

    def lane(self, name: str, progress: Progress) -> Lane:
        """What stands beside the lines: "sharding" of each value, "dtypes" where they change. Raises ValueError."""
        return (margin.shardings if name == "sharding" else margin.dtypes)(self._whole, progress)

    def warnings(self, progress: Progress) -> margin.WarnedOf:
        """What is laid anew or gathered whole, at its lines. Raises ValueError where nothing was compiled."""
        return margin.warnings(self._whole, progress)

    @property
    def exchanges(self) -> tuple[int, bool]:
        """(how many collectives the optimised module has, whether what caused them was asked for)."""
        return margin.exchanges(self._whole), "collectives" in vars(self)

    def exchanged(self) -> Collectives:
        """`collectives` without what caused them, for which nothing is compiled; with it where that is known by now."""
        return sharded.exchanged(self._whole)

    def find_collectives(self, progress: Progress) -> Collectives:
        """`collectives`, telling how far the compile for their causes is."""
        if "collectives" not in vars(self):
            self.collectives = sharded.collectives(self._whole, progress)
        return self.collectives

    @cached_property
    def memory_look(self) -> MemoryLook:
        """What views ask of the memory."""
        return MemoryLook(self._whole)

    @property
    def memory(self) -> Memory:
        """Live bytes over the schedule, what lives at the worst moment, does it fit, arguments and results.

        The first look compiles once more, in the worker, also where the compile ran out of memory; see `memory.look`.
        """
        return self.memory_look.memory()

    def memory_figure(self, space: str | int = 0) -> Any:
        """Live bytes over the schedule as a `plotly.graph_objects.Figure`. Raises ImportError without plotly."""
        from jaxstage_ext.views import memory_figure

        return memory_figure.figure(self.memory, space)
