"""Which results are an argument's tree again, as a train step returns the parameters and the optimizer's state."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Kind = tuple[tuple[int, ...], str]
"""The shape and the dtype of a leaf."""
_STEP = re.compile(r"\[[^\]]{0,200}\]|\.\w+")


@dataclass(frozen=True)
class ResultPair:
    """A result that takes the place of an argument in the next call."""

    result: int
    argument: int
    tree: bool
    """Whether it is one leaf of a tree that both have; single arrays that are alike may be so by chance."""


def result_pairs(arguments: Sequence[tuple[str, Kind]], results: Sequence[tuple[str, Kind]]) -> tuple[ResultPair, ...]:
    """The pairs of leaves, given by their paths such as "state['w']": the largest trees first, then in order.

    A tree pairs with one of equal paths below its root, equal shapes and dtypes. Each leaf is in one pair at most.
    """
    given, made = _trees(arguments), _trees(results)
    taken: set[int] = set()
    paired: dict[int, ResultPair] = {}
    for root in sorted(made, key=lambda root: -len(made[root])):
        leaves = made[root]
        if any(number in paired for _, number in leaves):
            continue
        twin = next(_twins(root, leaves, given, taken, (arguments, results)), None)
        if twin is not None:
            for (_, result), (_, argument) in zip(leaves, twin, strict=True):
                paired[result] = ResultPair(result, argument, len(leaves) > 1)
                taken.add(argument)
    return tuple(paired[number] for number in sorted(paired))


Leaves = list[tuple[str, int]]
"""(path below the root, number of the leaf)."""


def _trees(leaves: Sequence[tuple[str, Kind]]) -> dict[str, Leaves]:
    """The leaves below each prefix of a path, a leaf's own path included."""
    found: dict[str, Leaves] = defaultdict(list)
    for number, (path, _) in enumerate(leaves):
        ends = [match.start() for match in _STEP.finditer(path)]
        for end in (*ends, len(path)):
            found[path[:end]].append((path[end:], number))
    return dict(found)


def _twins(
    root: str,
    leaves: Leaves,
    given: dict[str, Leaves],
    taken: set[int],
    kinds: tuple[Sequence[tuple[str, Kind]], Sequence[tuple[str, Kind]]],
) -> Iterator[Leaves]:
    """The arguments' trees that are alike and free, one of the same last step first."""
    arguments, results = kinds
    wanted = [(below, results[number][1]) for below, number in leaves]
    last = _STEP.findall(root)[-1:]
    for other in sorted(given, key=lambda other: _STEP.findall(other)[-1:] != last):
        candidate = given[other]
        alike = [(below, arguments[number][1]) for below, number in candidate] == wanted
        if alike and not any(number in taken for _, number in candidate):
            yield candidate
