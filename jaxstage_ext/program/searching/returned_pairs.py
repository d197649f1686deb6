"""Which results a program returns to be its next arguments, or as the gradients of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf


def returned_pairs(arguments: Sequence[NamedLeaf], results: Sequence[NamedLeaf]) -> Mapping[int, int]:
    """Result -> argument, for each tree of arguments of several arrays that comes back with the same shapes in order.

    Of several such trees in the results an argument has the first that no other argument has taken; where there are
    more trees than arguments, as gradients beside new parameters, the rest go with an argument of equal shapes.
    """
    trees: dict[str, list[int]] = defaultdict(list)
    for number, leaf in enumerate(arguments):
        trees[leaf.path.argument].append(number)
    pairs: dict[int, int] = {}
    for several in (True, False):
        for members in trees.values():
            if (len(members) > 1) is several:
                _pair(members, arguments, results, pairs, once=not several)
    return pairs


def _pair(
    members: Sequence[int],
    arguments: Sequence[NamedLeaf],
    results: Sequence[NamedLeaf],
    pairs: dict[int, int],
    once: bool,
) -> None:
    shapes = [arguments[number].shape for number in members]
    for part in _parts(results):
        free = not any(number in pairs for number in part)
        if free and [results[number].shape for number in part] == shapes and shapes != [()]:
            pairs.update(zip(part, members, strict=True))
            if once:
                return


def _parts(results: Sequence[NamedLeaf]) -> list[list[int]]:
    """The subtrees of the results, the largest first."""
    under: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, leaf in enumerate(results):
        for depth in range(1, len(leaf.path.tokens) + 1):
            under[leaf.path.tokens[:depth]].append(number)
    return sorted(under.values(), key=len, reverse=True)
