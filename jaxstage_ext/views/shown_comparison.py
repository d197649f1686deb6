"""The comparison of a call's targets as a value that shows itself in a notebook and in a terminal."""

from __future__ import annotations

from jaxstage_ext.program.comparison import Table
from jaxstage_ext.views import comparison


class ShownComparison(Table):
    """The targets of one call, in the order in which they were given."""

    @classmethod
    def of(cls, table: Table) -> ShownComparison:
        """The same table, with its forms."""
        return cls(table.name, table.rows, table.columns)

    def __str__(self) -> str:
        return comparison.text(self.to_dict())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return comparison.html(self.to_dict())
