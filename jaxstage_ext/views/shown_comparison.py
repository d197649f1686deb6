"""The comparison of a call's targets as a value that shows itself in a notebook and in a terminal."""

from __future__ import annotations

from dataclasses import fields

from jaxstage_ext.program.comparing.comparison_table import Comparison
from jaxstage_ext.views import comparison_forms


class ShownComparison(Comparison):
    """The targets of one call, in the order in which they were given."""

    @classmethod
    def of_table(cls, table: Comparison) -> ShownComparison:
        """The same table, with its forms."""
        return cls(**{field.name: getattr(table, field.name) for field in fields(table)})

    def __str__(self) -> str:
        return comparison_forms.text(self.to_dict())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return comparison_forms.html(self.to_dict())
