"""The dtype conversions of a program as one table, with a sentence about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Unpack

from jaxstage_ext.analysis.dtypes import dtype_wording as wording
from jaxstage_ext.analysis.dtypes.conversions import Conversion, ConversionStage
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of


@dataclass(frozen=True, eq=False)
class Dtypes:
    """All conversions of a program in program order, those of the jaxpr first."""

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
        conversions = self.conversions
        columns = {
            "stage": Column([conversion.stage.value for conversion in conversions]),
            "from": Column([conversion.source + (" weak" if conversion.weak else "") for conversion in conversions]),
            "to": Column([conversion.target for conversion in conversions]),
            "kind": Column([conversion.kind.value for conversion in conversions]),
            "shape": Column(
                [f"[{','.join(map(str, conversion.shape))}]" for conversion in conversions], "", "per device in HLO"
            ),
            "grows": Column(
                [float(conversion.total_growth) for conversion in conversions], "B", "bytes added, all runs"
            ),
            "infects": Column(
                [conversion.infects for conversion in conversions], "", "later values that carry the larger dtype"
            ),
            "infected": Column(
                [None if conversion.infects is None else conversion.infected for conversion in conversions],
                "B",
                "bytes of these values, each once",
            ),
            "because of": Column(
                [conversion.because for conversion in conversions], "", "the promotion whose values it is inserted for"
            ),
            "written": Column(
                [
                    math.nan if conversion.written is None else conversion.written * (conversion.runs or 1.0)
                    for conversion in conversions
                ],
                "B",
                "to memory, all runs; 0 where it stays inside a fusion",
            ),
            "runs": Column([conversion.runs for conversion in conversions]),
            "by": Column([conversion.by.value for conversion in conversions]),
            "for": Column([wording.purpose(conversion) for conversion in conversions]),
            "line": Column([conversion.line for conversion in conversions]),
            "row": Column([conversion.row for conversion in conversions], "", "row of the HLO document"),
        }
        written = wording.NOT_IN_JAXPR
        reasons = {(i, "written"): written for i, conversion in enumerate(conversions) if conversion.written is None}
        reasons |= {(i, "runs"): wording.IN_LOOP for i, conversion in enumerate(conversions) if conversion.runs is None}
        no_promotion = {i: wording.infects_nothing(one) for i, one in enumerate(conversions) if one.infects is None}
        reasons |= {(i, name): why for i, why in no_promotion.items() for name in ("infects", "infected")}
        return Table("dtypes", columns, reasons, self.notes, adds_up=("grows", "written"))

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON; with `limit`, `by` or `where`, rows of it, as `Table.to_json` has them."""
        return self.table.to_json(**rows)

    def _parts(self) -> list[Part]:
        return [self.headline, self.table] if self.conversions else [self.headline, *self.notes]

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self._parts())


def join(conversions: Sequence[Conversion], notes: tuple[str, ...] = ()) -> Dtypes:
    """All conversions in program order, those of the jaxpr first, then those of the module by its rows."""
    order = sorted(conversions, key=lambda conversion: (conversion.stage is not ConversionStage.JAXPR, conversion.row))
    return Dtypes(tuple(order), notes)
