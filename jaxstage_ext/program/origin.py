"""Where and when a Program was made."""

from __future__ import annotations

import itertools
import time
from typing import NamedTuple

from jaxstage_ext.ir.sources import run_cells

_NUMBERS = itertools.count(1)


class ProgramOrigin(NamedTuple):
    """Attributes:
    number: counts the Programs of this process.
    made: when, in seconds since 1970.
    cell: the id of the cell that made it; None where that is unknown.
    label: the prompt of that cell, such as "In [5]"; None where none ran.
    """

    number: int
    made: float
    cell: str | None
    label: str | None


def here() -> ProgramOrigin:
    """The origin of a Program that is made now."""
    cell = run_cells.at_work()
    return ProgramOrigin(next(_NUMBERS), time.time(), cell.id if cell else None, cell.label if cell else None)
