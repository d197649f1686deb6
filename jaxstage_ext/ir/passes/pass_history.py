"""One instruction through the passes: where it first appeared, which passes changed it, and where it went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.ir.passes import diff, hlo_graph
from jaxstage_ext.ir.passes.compiler_passes import Pass, Passes

APPEARED, CHANGED, MOVED, COPIED, MERGED, REMOVED = "appeared", "changed", "moved", "copied", "merged", "removed"
MOST_ROWS = 100


@dataclass(frozen=True)
class Step:
    """What a pass did to the followed instruction."""

    index: int
    """Of the pass."""
    pipeline: str
    name: str
    what: str
    """"appeared", "changed", "moved" (to another computation), "copied", "merged" (into an equal one), "removed"."""
    before: tuple[int, ...]
    after: tuple[int, ...]
    """`before`, `after`: its rows in the module before and after the pass, from 0."""
    lines: tuple[str, ...]
    """Those after, or before where it was removed, as text."""


@dataclass(frozen=True)
class PassHistory:
    """The passes that changed an instruction, in order. `first` is its row in the first module, -1 for none."""

    line: str
    steps: tuple[Step, ...]
    first: int

    def __repr__(self) -> str:
        start = [] if self.first < 0 else ["in the module before all passes"]
        rows = [
            f"{s.index:>5}  {s.what:<9} {s.pipeline}: {s.name}\n         {s.lines[0].strip()[:140]}" for s in self.steps
        ]
        return "\n".join([self.line.strip(), *start, *rows])


def follow(pipeline: Passes, version: int, row: int, tell: Callable[[str], object] = lambda text: None) -> PassHistory:
    """The history of a row of the text `version` of `Passes.versions`.

    `tell` is called with each pass that is examined. Raises IndexError where there is no such row.
    """
    lines = pipeline.versions.texts(version)
    if not 0 <= row < len(lines):
        raise IndexError(f"row {row} of a module with {len(lines)} lines")
    passes = {this.version: this for this in pipeline.changed}
    earlier, first = _backward(pipeline, passes, version, row, tell)
    return PassHistory(lines[row], (*earlier, *_forward(pipeline, passes, version, row, tell)), first)


def row_of(pipeline: Passes, version: int, name: str) -> int:
    """The row of the instruction with this name, -1 for none."""
    shapes = map(hlo_graph.shape_of, pipeline.versions.texts(version))
    return next((row for row, shape in enumerate(shapes) if shape.name == name and shape.opcode), -1)


def _backward(
    pipeline: Passes, passes: dict[int, Pass], version: int, row: int, tell: Callable[[str], object]
) -> tuple[list[Step], int]:
    steps: list[Step] = []
    while version > 0 and row >= 0:
        this = passes[version]
        tell(f"{this.pipeline}: {this.name}")
        difference = pipeline.diff(this.index)
        before = int(difference.match_after[row])
        if difference.state_after[row] != diff.SAME:
            what = _what(difference, row, before)
            rows = (before,) if before >= 0 else ()
            steps.append(Step(this.index, this.pipeline, this.name, what, rows, (row,), (difference.after[row],)))
        version, row = version - 1, before
    return steps[::-1], row


def _what(difference: diff.Diff, row: int, before: int) -> str:
    if before < 0:
        return APPEARED
    if difference.match_before[before] != row:
        return COPIED
    return MOVED if difference.state_after[row] == diff.MOVED else CHANGED


def _forward(
    pipeline: Passes, passes: dict[int, Pass], version: int, row: int, tell: Callable[[str], object]
) -> list[Step]:
    steps = []
    rows = np.array([row])
    while version + 1 < len(pipeline.versions) and len(rows):
        version += 1
        this = passes[version]
        tell(f"{this.pipeline}: {this.name}")
        difference = pipeline.diff(this.index)
        next_ = difference.match_before[rows]
        after = np.unique(np.concatenate([next_[next_ >= 0], np.flatnonzero(np.isin(difference.match_after, rows))]))
        what = _change(difference, rows, after)
        if what:
            lines = tuple(difference.after[i] for i in after[:MOST_ROWS]) or tuple(
                difference.before[i] for i in rows[:MOST_ROWS]
            )
            ends = (tuple(rows[:MOST_ROWS].tolist()), tuple(after[:MOST_ROWS].tolist()))
            steps.append(Step(this.index, this.pipeline, this.name, what, *ends, lines))
        rows = after
    return steps


def _change(difference: diff.Diff, rows: np.ndarray, after: np.ndarray) -> str:
    """What a pass did to these rows; "" for nothing."""
    states = set(difference.state_before[rows].tolist())
    if not len(after):
        return REMOVED
    if len(after) > len(rows):
        return COPIED
    if diff.GONE in states:
        return MERGED
    return MOVED if states == {diff.MOVED} else CHANGED if states & {diff.MOVED, diff.CHANGED} else ""
