"""The executions of modules, numbered."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling.xplane.xplane_stats import ABSENT
from jaxstage_ext.report.recording import NONE, Index


def numbered_runs(run: Longs, start: Longs) -> Index:
    """The number of the execution that each event belongs to, in the order in which they begin; NONE where unknown."""
    result = np.full(len(run), NONE, np.int32)
    known = np.flatnonzero(run != ABSENT)
    distinct, which = np.unique(run[known], return_inverse=True)
    first = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(first, which, start[known])
    number = np.empty(len(distinct), np.int32)
    number[np.argsort(first, kind="stable")] = np.arange(len(distinct), dtype=np.int32)
    result[known] = number[which]
    return result
