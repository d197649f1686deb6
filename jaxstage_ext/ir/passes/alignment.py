"""Two matched texts side by side, and the changed part of them as text."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from jaxstage_ext.report.frames import Ints

if TYPE_CHECKING:
    from jaxstage_ext.ir.passes.diff import Diff


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


CONTEXT = 1
LONGEST = 160
_BEFORE, _AFTER = " ~->", " ~+<"


def text(diff: Diff, context: int = CONTEXT, most: int = 400) -> str:
    """The changed lines with what stands around them: "-" removed, "+" added, "~" changed, ">" and "<" moved."""
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
    here = np.where(left >= 0, diff.state_before[np.maximum(left, 0)], 0)
    there = np.where(right >= 0, diff.state_after[np.maximum(right, 0)], 0)
    return (here > 0) | (there > 0)


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
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
