"""Which arguments a program updates: parameters and optimizer state, which return; the batch does not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxstage_ext.analysis.sharding.naming.leaf_path import LeafPath


@dataclass(frozen=True)
class NamedLeaf:
    """An array of the program's arguments or results: its path as JAX writes it, and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def path(self) -> LeafPath:
        """The path in words."""
        return LeafPath.of(self.name)


def returned(arguments: Sequence[NamedLeaf], results: Sequence[NamedLeaf]) -> frozenset[int]:
    """The arguments' arrays, by number, that come back with a whole tree: parameters, optimizer state, gradients.

    A tree comes back where the results hold one with the same shapes in the same order. An argument that is a single
    array comes back where no tree does and a result, or a tuple's part, has its shape; each result counts once.
    """
    trees = trees_of(arguments)
    parts = _parts(results)
    whole = [tree for tree in trees.values() if len(tree) > 1 and _shapes(arguments, tree) in parts]
    kept = whole or _single(arguments, results, trees)
    return frozenset(number for tree in kept for number in tree)


def _single(
    arguments: Sequence[NamedLeaf], results: Sequence[NamedLeaf], trees: Mapping[str, Sequence[int]]
) -> list[Sequence[int]]:
    left = Counter(leaf.shape for leaf in results if leaf.shape)
    found = []
    for tree in trees.values():
        shape = arguments[tree[0]].shape
        if len(tree) == 1 and left[shape] > 0:
            left[shape] -= 1
            found.append(tree)
    return found


def trees_of(leaves: Sequence[NamedLeaf]) -> Mapping[str, Sequence[int]]:
    """The numbers of the arrays of each argument, by its name."""
    trees: dict[str, list[int]] = defaultdict(list)
    for number, leaf in enumerate(leaves):
        trees[leaf.path.argument].append(number)
    return trees


_Shapes = tuple[tuple[int, ...], ...]


def _shapes(leaves: Sequence[NamedLeaf], numbers: Sequence[int]) -> _Shapes:
    return tuple(leaves[number].shape for number in numbers)


def _parts(results: Sequence[NamedLeaf]) -> set[_Shapes]:
    """The shapes of each subtree of the results, in order."""
    under: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, leaf in enumerate(results):
        for depth in range(1, len(leaf.path.tokens) + 1):
            under[leaf.path.tokens[:depth]].append(number)
    return {_shapes(results, numbers) for numbers in under.values()}
