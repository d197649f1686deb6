"""`%dimensions`: the named dimensions of a call, and what splitting each alone costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.analysis.sharding.naming.dimension_names import UnknownDimension
from jaxstage_ext.notebook.cell_request import Request
from jaxstage_ext.notebook.lines.dimensions_line import NAME
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.analysis.sharding.naming.dimension_tables import Dimensions
    from jaxstage_ext.api.inspection import Inspection


class DimensionsRequest(Request):
    """The calls of `%dimensions`, which has no cell."""

    magic = NAME
    ways = f"write the call with its arguments, such as %{NAME} {{name}}(...), or --args"
    otherwise = f"write a call, such as %{NAME} step(params, batch)"


def found(inspections: Sequence[Inspection], names: Sequence[tuple[str, str]]) -> Any:
    """The dimensions of a call, or of several a tuple, by the author's names. Raises UsageError."""
    from jaxstage_ext.program.questions.named_dimensions import give_names

    made: list[Dimensions] = []
    try:
        for inspection in inspections:
            give_names(inspection.program, dict(names))
            made.append(inspection.dimensions)
    except (Unavailable, UnknownDimension) as why:
        raise UsageError(str(why)) from None
    return made[0] if len(made) == 1 else tuple(made)
