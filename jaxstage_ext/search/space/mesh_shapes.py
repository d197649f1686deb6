"""The meshes that a number of devices can form."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from jaxstage_ext.search.search_problem import SearchProblem


def mesh_shapes(problem: SearchProblem) -> tuple[tuple[int, ...], ...]:
    """Axis sizes, the slowest axis first, those of fewest axes first.

    Where no axis is slower than another a mesh stands for those whose axes are exchanged: 4 x 2 for 2 x 4.
    """
    limits = problem.limits
    if limits.mesh:
        return (tuple(size for _, size in limits.mesh),)
    shapes = _factored(problem.devices, max(limits.most_axes, len(limits.names)))
    fitting = [shape for shape in shapes if len(shape) >= len(limits.names)]
    if not problem.order_matters and not limits.names:
        return tuple(fitting)
    return tuple(dict.fromkeys(order for shape in fitting for order in itertools.permutations(shape)))


def _factored(devices: int, most: int) -> list[tuple[int, ...]]:
    """Every product of at most `most` factors of 2 and more, each in falling order."""
    found = [shape for count in range(1, most + 1) for shape in _products(devices, count, devices)]
    return found or [()]


def _products(devices: int, count: int, largest: int) -> Iterator[tuple[int, ...]]:
    if count == 1:
        if 1 < devices <= largest:
            yield (devices,)
        return
    for first in range(min(devices // 2, largest), 1, -1):
        if devices % first == 0:
            yield from ((first, *rest) for rest in _products(devices // first, count - 1, first))
