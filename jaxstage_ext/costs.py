"""What a program costs, as `Inspection.cost` gives it: a table, its roll-ups, the ledger and the roofline."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jaxstage_ext import numbers, sharded
from jaxstage_ext.analysis import exchange
from jaxstage_ext.analysis.cost import Cost
from jaxstage_ext.analysis.roofline import Roofline
from jaxstage_ext.analysis.table import Table, scaled

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


@dataclass(frozen=True, eq=False)
class Costs:
    """The cost of one program on its target.

    Attributes:
      work: the figures of each HLO instruction, and how often it runs.
    """

    _inspection: Inspection = field(repr=False)
    work: Cost

    @property
    def table(self) -> Table:
        """One row an instruction, the most bytes first; a fusion has its members' work."""
        return self.work.table

    def by(self, group: str) -> Table:
        """Totals by "line", "scope", "computation", "opcode" or "dtype". Raises ValueError for another."""
        return self.work.by(group)

    @cached_property
    def ledger(self) -> Table:
        """The same work counted on the jaxpr, on the HLO, and by XLA, with the reasons where they differ."""
        return numbers.ledger(self._inspection, self.work)

    @cached_property
    def roofline(self) -> Roofline:
        """Each instruction against the peaks of the target; `verdict` says what bounds the program."""
        return numbers.roofline_of(self._inspection, self.work, exchange.read(sharded.exchanged(self._inspection)))

    @property
    def headline(self) -> str:
        """FLOPs and bytes in one sentence, with how many instructions' FLOPs are unknown."""
        flops, unknown = scaled(self.work.total_flops, "FLOP"), len(self.work.why)
        least = "at least " if unknown else ""
        return f"{least}{flops}, {scaled(self.work.total_bytes, 'B')} moved, in one run on one device"

    def __str__(self) -> str:
        return "\n\n".join([f"{self.headline}\n{self.roofline.verdict}", str(self.ledger), str(self.table)])

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """The table as versioned JSON."""
        return self.table.to_json()


def of(inspection: Inspection) -> Costs:
    """Count the work of a program. Raises `numbers.NoNumbers`, a ValueError, where nothing was compiled."""
    return Costs(inspection, numbers.cost(inspection))
