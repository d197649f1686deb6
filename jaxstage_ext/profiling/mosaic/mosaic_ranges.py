"""The ranges of each trace: a record that enters, joined with the one that leaves. Ranges nest, as named scopes do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.mosaic.mosaic_buffer import Flags, MosaicRecords, Whole


@dataclass(frozen=True, eq=False)
class MosaicRanges:
    """The ranges of a buffer, in the order in which they begin within their trace."""

    begin: Whole
    end: Whole
    """`begin`, `end`: rows of the records that enter and leave; where a range was left open, `end` is the last record
    of the range around it, or of its trace."""
    depth: Whole
    """0 for the outermost."""
    open: Flags
    """Whether the range was left open."""
    stray: Whole
    """Of each trace, the records that leave a range that was not entered; they are in no range."""


def paired(records: MosaicRecords) -> MosaicRanges:
    """Joins the records of each trace: those of a whole trace as columns, those of a damaged one by one."""
    depth = _depths(records)
    begin, end = _joined_by_depth(records, depth)
    whole = _whole(records, depth, begin, end)
    kept = whole[records.trace[begin]]
    columns = [np.stack([begin[kept], end[kept], depth[begin[kept]], np.zeros(kept.sum(), np.int64)])]
    stray = np.zeros(len(records.counts), np.int64)
    for trace in np.flatnonzero(~whole):
        ranges, stray[trace] = _one_by_one(records, int(trace))
        columns.append(ranges)
    every = np.concatenate(columns, axis=1)
    every = every[:, np.argsort(every[0], kind="stable")]
    return MosaicRanges(every[0], every[1], every[2], every[3] != 0, stray)


def _depths(records: MosaicRecords) -> Whole:
    """How many ranges are around each record, were every trace whole."""
    after = np.cumsum(np.where(records.exit, -1, 1))
    before = np.concatenate([[0], after])[records.first[:-1]]
    return np.asarray(after - np.repeat(before, records.counts) - np.where(records.exit, 0, 1))


def _joined_by_depth(records: MosaicRecords, depth: Whole) -> tuple[Whole, Whole]:
    """Neighbours among the records of one trace and depth, of which the first enters and the second leaves."""
    order = np.lexsort((np.arange(len(depth)), depth, records.trace))
    first, second = order[:-1], order[1:]
    same = (records.trace[first] == records.trace[second]) & (depth[first] == depth[second])
    joined = same & ~records.exit[first] & records.exit[second] & (records.name[first] == records.name[second])
    return first[joined], second[joined]


def _whole(records: MosaicRecords, depth: Whole, begin: Whole, end: Whole) -> Flags:
    """Whether every record of a trace is in a range, and no range ends outside of the one around it."""
    traces = len(records.counts)
    joined = np.bincount(records.trace[begin], minlength=traces) * 2
    below = np.bincount(records.trace[depth < 0], minlength=traces)
    whole: Flags = (joined == records.counts) & (below == 0)
    return whole


def _one_by_one(records: MosaicRecords, trace: int) -> tuple[npt.NDArray[np.int64], int]:
    first, last = int(records.first[trace]), int(records.first[trace + 1])
    names, leaves = records.name[first:last].tolist(), records.exit[first:last].tolist()
    ranges: list[list[int]] = []
    around: list[int] = []
    waiting: dict[int, int] = {}
    stray = 0
    for row, (name, leave) in enumerate(zip(names, leaves, strict=True), first):
        if not leave:
            waiting[name] = waiting.get(name, 0) + 1
            around.append(len(ranges))
            ranges.append([row, last - 1, len(around) - 1, 1])
        elif waiting.get(name, 0):
            _close(ranges, around, waiting, names, first, row)
        else:
            stray += 1
    return np.array(ranges, np.int64).reshape(-1, 4).T, stray


def _close(
    ranges: list[list[int]], around: list[int], waiting: dict[int, int], names: list[int], first: int, row: int
) -> None:
    """Ends the innermost range of the name of record `row`, and leaves open those inside it."""
    name = names[row - first]
    while True:
        inner = ranges[around.pop()]
        entered = names[inner[0] - first]
        waiting[entered] -= 1
        inner[1] = row
        if entered == name:
            inner[3] = 0
            return
