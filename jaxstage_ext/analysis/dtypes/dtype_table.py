"""The dtype conversions of a program as one table, with a sentence about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jaxstage_ext.analysis.dtypes import dtype_wording as wording
from jaxstage_ext.analysis.dtypes.conversions import Conversion, ConversionStage
from jaxstage_ext.report.table import Column, Table


@dataclass(frozen=True, eq=False)
class Dtypes:
    """All conversions of a program, those of the jaxpr first, then the largest first."""

    conversions: tuple[Conversion, ...] = field(default=())
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.conversions)

    @property
    def headline(self) -> str:
        """How many values change their dtype, who converts them, and where they grow most."""
        return wording.headline(self.conversions)

    @cached_property
    def table(self) -> Table:
        each = self.conversions
        columns = {
            "stage": Column([one.stage.value for one in each]),
            "from": Column([one.source + (" weak" if one.weak else "") for one in each]),
            "to": Column([one.target for one in each]),
            "kind": Column([one.kind.value for one in each]),
            "shape": Column([f"[{','.join(map(str, one.shape))}]" for one in each], "", "per device in HLO"),
            "grows": Column([float(one.total_growth) for one in each], "B", "bytes added, all runs"),
            "written": Column(
                [math.nan if one.written is None else one.written * (one.runs or 1.0) for one in each],
                "B",
                "to memory, all runs; 0 inside a fusion",
            ),
            "runs": Column([one.runs for one in each]),
            "by": Column([one.by.value for one in each]),
            "for": Column([wording.purpose(one) for one in each]),
            "line": Column([one.line for one in each]),
            "row": Column([one.row for one in each], "", "row of the HLO document"),
        }
        written = wording.NOT_IN_JAXPR
        reasons = {(i, "written"): written for i, one in enumerate(each) if one.written is None}
        reasons |= {(i, "runs"): wording.IN_LOOP for i, one in enumerate(each) if one.runs is None}
        return Table("dtypes", columns, reasons, self.notes)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """The table as versioned JSON."""
        return self.table.to_json()

    def __str__(self) -> str:
        return f"{self.headline}\n{self.table}" if self.conversions else self.headline

    __repr__ = __str__


def join(conversions: Sequence[Conversion], notes: tuple[str, ...] = ()) -> Dtypes:
    """All conversions, those of the jaxpr first, then the largest first."""
    order = sorted(
        conversions, key=lambda one: (one.stage is not ConversionStage.JAXPR, -abs(one.total_growth), one.line)
    )
    return Dtypes(tuple(order), notes)
