"""What a program costs, as `Inspection.cost` gives it: a table, its roll-ups, the ledger and the roofline."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.cost.equations import Equations
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.core import stages
from jaxstage_ext.program import cost_inputs, shardings
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.units import scaled

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


@dataclass(frozen=True, eq=False)
class Costs:
    """The cost of one program on its target; of one that was not compiled there are the `equations` alone."""

    _inspection: Inspection = field(repr=False)

    @cached_property
    def work(self) -> Cost:
        """The figures of each HLO instruction, and how often it runs. Raises Unavailable where nothing was compiled."""
        return cost_inputs.cost(self._inspection)

    @cached_property
    def equations(self) -> Equations:
        """One row an equation of the jaxpr, before the compiler touched it. Raises Unavailable where there is none."""
        return cost_inputs.equations(self._inspection)

    @property
    def is_compiled(self) -> bool:
        """Whether there is optimised HLO to count."""
        return self._inspection._hlo_proto() is not None

    @property
    def table(self) -> Table:
        """One row an instruction, the most bytes first; a fusion has its members' work."""
        return self.work.table

    def by(self, group: str) -> Table:
        """Totals by "line", "scope", "computation", "opcode" or "dtype". Raises ValueError for another."""
        return self.work.by(group)

    def members(self, instruction: str) -> Table:
        """What a fusion, call or loop holds, one row an instruction. Raises ValueError where there is none."""
        return self.work.members(instruction)

    @cached_property
    def ledger(self) -> Table:
        """The same work counted on the jaxpr, on the HLO, and by XLA, with the reasons where they differ."""
        return cost_inputs.ledger(self._inspection, self.work)

    @cached_property
    def roofline(self) -> Roofline:
        """Each instruction against the peaks of the target; `verdict` says what bounds the program."""
        return cost_inputs.roofline_of(
            self._inspection, self.work, exposed_time.read(shardings.exchanged(self._inspection))
        )

    @property
    def headline(self) -> str:
        """FLOPs and bytes in one sentence, with how many instructions' FLOPs are unknown."""
        flops, unknown = scaled(self.work.total_flops, "FLOP"), len(self.work.why)
        least = "at least " if unknown else ""
        return f"{least}{flops}, {scaled(self.work.total_bytes, 'B')} moved, in one run on one device"

    def __str__(self) -> str:
        if not self.is_compiled:
            return str(self.equations)
        return "\n\n".join([f"{self.headline}\n{self.roofline.verdict}", str(self.ledger), str(self.table)])

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """The table as versioned JSON."""
        return self.table.to_json()


def of(inspection: Inspection) -> Costs:
    """The work of a program, counted when it is asked for. Raises `Unavailable`, a ValueError, without a program.

    That is where JAX traced nothing and nothing was compiled.
    """
    if stages.unwrap(inspection.traced) is None:
        cost_inputs.needs_module(inspection)
    return Costs(inspection)
