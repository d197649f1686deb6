"""Which instruction gives a row its source line, and which lines are mostly inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import cost_wording as wording
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.places.heaviest_members import heaviest_members

Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def givers(ops: Module, shown: Longs, line: Sequence[str]) -> Longs:
    """The instruction whose line each has: itself, or of a fusion in the schedule the member that does most."""
    given = np.arange(len(ops))
    heaviest = heaviest_members(ops, shown)
    has_line = np.array([bool(line[member]) for member in heaviest.tolist()], bool)
    given[shown] = np.where(has_line, heaviest, shown)
    return given


def remarks(inferred: Bools, of: Longs) -> Mapping[tuple[int, str], str]:
    """What is remarked of the lines of a table, whose rows have their lines from `of`."""
    marked = np.flatnonzero(inferred[of]).tolist() if len(inferred) else []
    return {(at, "line"): wording.INFERRED_LINE for at in marked}


def mostly(inferred: Bools, place: Longs, weight: npt.NDArray[np.float64], n: int) -> list[int]:
    """The groups, of n, most of whose weight is of inferred lines; each part is of the group at `place`."""
    of_inferred, total = np.bincount(place, weight * inferred, n), np.bincount(place, weight, n)
    return [int(at) for at in np.flatnonzero(2 * of_inferred > total)]
