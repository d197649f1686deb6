"""What differs between two HLO texts, structurally: renaming and renumbering are no change.

A matched instruction has changed when its opcode, shape or attributes have, or when it uses a value that is not the
match of what it used.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jaxstage_ext.ir.passes import hlo_graph
from jaxstage_ext.ir.passes.hlo_graph import Graph
from jaxstage_ext.ir.passes.matching import Matching
from jaxstage_ext.report.document import Flags
from jaxstage_ext.report.frames import Ints

SAME, CHANGED, GONE, MOVED = range(4)
"""States of a row: unchanged; matched, but different; only on this side; in another computation."""
_CONTEXT, _LONGEST = 1, 160
_BEFORE, _AFTER = " ~->", " ~+<"


@dataclass(frozen=True, eq=False)
class Diff:
    """Two texts and, per row of each, the matching row of the other (-1 none) and its state.

    Several rows may match one: those after it are copies of it (moved), those before it were merged into it (gone).

    `left` and `right` are the rows of both, side by side: entries of equal place are on one line, -1 is a blank.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    match_before: Ints
    match_after: Ints
    state_before: Flags
    state_after: Flags

    @cached_property
    def _aligned(self) -> tuple[Ints, Ints]:
        return align(self.match_before, len(self.after))

    @property
    def left(self) -> Ints:
        return self._aligned[0]

    @property
    def right(self) -> Ints:
        return self._aligned[1]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows were changed, moved, removed, added."""
        return {
            "changed": int((self.state_after == CHANGED).sum()),
            "moved": int((self.state_after == MOVED).sum()),
            "removed": int((self.state_before == GONE).sum()),
            "added": int((self.state_after == GONE).sum()),
        }

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.state_before.any() or self.state_after.any())

    def __repr__(self) -> str:
        return text(self)


def compare(before: str, after: str) -> Diff:
    """The difference of two HLO texts without metadata."""
    a, b = before.split("\n"), after.split("\n")
    return compare_graphs(hlo_graph.read(a), hlo_graph.read(b), a, b)


def compare_graphs(a: Graph, b: Graph, before: Sequence[str], after: Sequence[str]) -> Diff:
    """`compare` of lines that were read before."""
    matching = Matching(a, b)
    matching.run()
    states = _states(matching)
    forward, backward = matching.columns()
    return Diff(tuple(before), tuple(after), forward, backward, *states)


def _states(matching: Matching) -> tuple[Flags, Flags]:
    a, b = matching.a, matching.b
    before = np.full(len(a.shapes), GONE, np.uint8)
    after = np.full(len(b.shapes), GONE, np.uint8)
    for row, other in matching.rows.items():
        state = SAME if matching.is_same(row, other) else CHANGED
        if matching.has_moved(row, other):
            state = MOVED
        before[row] = after[other] = state
    for row in matching.copies:
        after[row] = MOVED
    for graph, states in ((a, before), (b, after)):
        states[[row for row, shape in enumerate(graph.shapes) if not shape.skeleton]] = SAME
    return before, after


def text(diff: Diff, context: int = _CONTEXT, most: int = 400) -> str:
    """The changed lines with their neighbours: "-" removed, "+" added, "~" changed, ">" and "<" moved."""
    if not diff:
        return "no difference but names and metadata"
    touched = _touched(diff)
    near = np.convolve(touched, np.ones(2 * context + 1), "same") > 0
    lines: list[str] = [_summary(diff)]
    last = -1
    for place in np.flatnonzero(near).tolist():
        if place != last + 1:
            lines.append("...")
        lines += _lines(diff, int(diff.left[place]), int(diff.right[place]))
        last = place
        if len(lines) > most:
            return "\n".join([*lines, f"... ({int(touched[place:].sum()):,} more)"])
    return "\n".join(lines)


def _touched(diff: Diff) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    left, right = diff.left, diff.right
    before = np.where(left >= 0, diff.state_before[np.maximum(left, 0)], SAME)
    after = np.where(right >= 0, diff.state_after[np.maximum(right, 0)], SAME)
    return np.asarray((before != SAME) | (after != SAME))


def _summary(diff: Diff) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in diff.counts.items() if count)


def _lines(diff: Diff, row: int, other: int) -> list[str]:
    before = _BEFORE[diff.state_before[row]] if row >= 0 else ""
    after = _AFTER[diff.state_after[other]] if other >= 0 else ""
    if before == after == " " and diff.match_before[row] == other:
        return [f"  {_short(diff.after[other])}"]
    shown = []
    if row >= 0 and (before.strip() or diff.match_before[row] >= 0):
        shown += [f"{before} {_short(diff.before[row])}"] if before.strip() else []
    if other >= 0:
        shown += [f"{after} {_short(diff.after[other])}"]
    return shown


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def align(match: Ints, after: int) -> tuple[Ints, Ints]:
    """(left, right): rows of both texts by display line, -1 for a blank.

    The longest run of matches that keeps the order shares lines. Between two of them, what is left of both sides
    stands side by side.
    """
    anchors = _longest_rising(match)
    left, right = [], []
    a = b = 0
    for row in [*anchors.tolist(), len(match)]:
        other = int(match[row]) if row < len(match) else after
        height = max(row - a, other - b)
        left.append(_padded(a, row, height))
        right.append(_padded(b, other, height))
        a, b = row, other
        if row < len(match):
            left.append(np.array([row], np.int32))
            right.append(np.array([other], np.int32))
            a, b = row + 1, other + 1
    return np.concatenate(left), np.concatenate(right)


def _padded(start: int, end: int, height: int) -> Ints:
    rows = np.full(height, -1, np.int32)
    rows[: end - start] = np.arange(start, end)
    return rows


def _longest_rising(match: Ints) -> Ints:
    """The rows of the longest subsequence whose matches rise (patience sorting)."""
    rows = np.flatnonzero(match >= 0)
    tails: list[int] = []
    last: list[int] = []
    previous = np.full(len(rows), -1, np.int64)
    for place, value in enumerate(match[rows].tolist()):
        pile = bisect_left(tails, value)
        if pile:
            previous[place] = last[pile - 1]
        if pile == len(tails):
            tails.append(value)
            last.append(place)
        else:
            tails[pile], last[pile] = value, place
    chain = []
    place = last[-1] if last else -1
    while place >= 0:
        chain.append(place)
        place = int(previous[place])
    return rows[chain[::-1]].astype(np.int32)
