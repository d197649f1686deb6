"""The steps of a resharding that XLA can take one by one: each moves, gathers or splits along one mesh axis."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

Dims = tuple[tuple[str, ...], ...]
"""The mesh axes of each dimension, the slowest first."""
_MOST_STATES = 5_000


def between(before: Dims, after: Dims, sizes: Mapping[str, int], shape: Sequence[int]) -> list[Dims]:
    """The shardings on a shortest way from one to another, without both ends; empty where there is none.

    A step moves an axis that is the fastest of its dimension to another one, where it becomes the fastest (an
    all-to-all). Axes that only one end has are gathered last, or split first, since such a step moves no bytes.
    """
    begin = before
    for axis, dim in _missing(before, after):
        begin = _put(begin, dim, (*begin[dim], axis))
    came: dict[Dims, Dims | None] = {begin: None}
    todo = deque([begin])
    while todo and len(came) < _MOST_STATES:
        here = todo.popleft()
        if here == after:
            return _way(came, here, before)
        for there in _moves(here, after):
            if there not in came and _divides(there, sizes, shape):
                came[there] = here
                todo.append(there)
    return []


def _missing(before: Dims, after: Dims) -> Iterator[tuple[str, int]]:
    held = {axis for axes in before for axis in axes}
    return ((axis, dim) for dim, axes in enumerate(after) for axis in axes if axis not in held)


def _moves(here: Dims, after: Dims) -> Iterator[Dims]:
    wanted = {axis for axes in after for axis in axes}
    for dim, axes in enumerate(here):
        if axes:
            left = _put(here, dim, axes[:-1])
            if axes[-1] not in wanted:
                yield left
            for other in range(len(here)):
                if other != dim:
                    yield _put(left, other, (*left[other], axes[-1]))


def _put(dims: Dims, dim: int, axes: tuple[str, ...]) -> Dims:
    return (*dims[:dim], axes, *dims[dim + 1 :])


def _divides(dims: Dims, sizes: Mapping[str, int], shape: Sequence[int]) -> bool:
    for axes, size in zip(dims, shape, strict=True):
        for axis in axes:
            if size % sizes[axis]:
                return False
            size //= sizes[axis]
    return True


def _way(came: Mapping[Dims, Dims | None], last: Dims, before: Dims) -> list[Dims]:
    way, here = list[Dims](), came[last]
    while here is not None and here != before:
        way.append(here)
        here = came[here]
    return way[::-1]
