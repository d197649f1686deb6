"""The lines in which two texts differ, in time that grows with their length alone.

Lines that occur once in each text, and keep their order, are matched; what is alike before and after a match joins it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

SAME, RENAMED, REMOVED, ADDED = "same", "renamed", "removed", "added"
"""What became of a line; a renamed one differs in the names of values alone."""
_VALUES = {"jaxpr": re.compile(r"\b([a-z_]+):\w+\["), "stablehlo": re.compile(r"(%\w+)")}
"""Where the names of values stand in a document of a kind; those of HLO are matched by its own graph."""
_WORD = re.compile(r"(?<!= )(?<![\w.%])%?[A-Za-z_0-9]+(?!\w)")
"""A word that is not the operation, which follows the equals sign."""


@dataclass(frozen=True)
class LinePair:
    """A line of the difference: its rows in both texts, -1 where it is not in one, and what became of it."""

    what: str
    before: int
    after: int


def line_difference(before: Sequence[str], after: Sequence[str], kind: str = "") -> list[LinePair]:
    """All lines of both texts in their order, the removed ones before those added in their place."""
    first, second = _without_names(before, kind), _without_names(after, kind)
    pairs: list[LinePair] = []
    row = other = 0
    for at, to in [*_matched(first, second), (len(first), len(second))]:
        pairs += [LinePair(REMOVED, gone, -1) for gone in range(row, at)]
        pairs += [LinePair(ADDED, -1, new) for new in range(other, to)]
        if at < len(first):
            pairs.append(LinePair(SAME if before[at] == after[to] else RENAMED, at, to))
        row, other = at + 1, to + 1
    return pairs


def _without_names(lines: Sequence[str], kind: str) -> list[str]:
    """The lines as they are compared: without indentation and the names of values."""
    if kind not in _VALUES:
        return [line.strip() for line in lines]
    names = {name for line in lines for name in _VALUES[kind].findall(line)}
    return [_WORD.sub(lambda word: "%" if word[0] in names else word[0], line.strip()) for line in lines]


def _matched(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Rows of both that are matched, rising in both."""
    start, end = _alike(first, second), 0
    most = min(len(first), len(second)) - start
    while end < most and first[-1 - end] == second[-1 - end]:
        end += 1
    ends = (len(first) - end, len(second) - end)
    anchors = _rising(_once_in_both(first[start : ends[0]], second[start : ends[1]], start))
    pairs = [(row, row) for row in range(start)]
    for at, to in [*anchors, ends]:
        pairs += _joined(first, second, pairs[-1] if pairs else (-1, -1), (at, to))
        pairs += [(at, to)] if (at, to) != ends else []
    return pairs + [(ends[0] + n, ends[1] + n) for n in range(end)]


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    """How many lines both begin with."""
    differing = (row for row, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(differing, min(len(first), len(second)))


def _joined(
    first: Sequence[str], second: Sequence[str], last: tuple[int, int], following: tuple[int, int]
) -> list[tuple[int, int]]:
    """Lines between two matches that are alike: those after the one, then those before the other."""
    (a, b), (c, d) = (last[0] + 1, last[1] + 1), following
    forward: list[tuple[int, int]] = []
    while a < c and b < d and first[a] == second[b]:
        forward.append((a, b))
        a, b = a + 1, b + 1
    backward: list[tuple[int, int]] = []
    while c > a and d > b and first[c - 1] == second[d - 1]:
        c, d = c - 1, d - 1
        backward.append((c, d))
    return forward + backward[::-1]


def _once_in_both(first: Sequence[str], second: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Rows of the lines that occur once in each, in the order of the first."""
    counts, others = Counter(first), Counter(second)
    place = {line: row for row, line in enumerate(second) if others[line] == 1}
    return [(row + start, place[line] + start) for row, line in enumerate(first) if counts[line] == 1 and line in place]


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose second rows rise."""
    ends: list[int] = []
    tails: list[int] = []
    before = [-1] * len(pairs)
    for number, (_, row) in enumerate(pairs):
        at = bisect_left(tails, row)
        before[number] = ends[at - 1] if at else -1
        tails[at : at + 1], ends[at : at + 1] = [row], [number]
    chain, number = [], ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]
