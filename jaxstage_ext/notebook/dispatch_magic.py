"""`%dispatch`: what a call does at run time before the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.notebook.cell_request import Request
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection

NAME = "dispatch"


class DispatchRequest(Request):
    """The calls of `%dispatch`, which has no cell."""

    magic = NAME
    ways = f"write the call with its arguments, such as %{NAME} {{name}}(...)"
    otherwise = f"write a call, such as %{NAME} loss(w, x)"


def tables(inspections: Sequence[Inspection]) -> Any:
    """The table of a call, or of several a tuple. Raises UsageError for what this kernel does not run."""
    try:
        found = tuple(inspection.dispatch for inspection in inspections)
    except Unavailable as why:
        raise UsageError(str(why)) from None
    return found[0] if len(found) == 1 else found
