"""Two matched texts side by side."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from jaxstage_ext.report.frames import Ints


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
