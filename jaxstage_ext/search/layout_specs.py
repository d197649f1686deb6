"""The specs of all arguments and results that a candidate means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.search_problem import SearchedArgument, SearchProblem


@dataclass(frozen=True)
class LayoutSpecs:
    """A mesh and the specs of a program on it: what is partitioned. Two equal ones are one layout."""

    mesh: tuple[tuple[str, int], ...]
    """The slowest axis first."""
    arguments: tuple[AxisSpec | None, ...]
    """None only in a layout of the user's that leaves an argument to the compiler."""
    results: tuple[AxisSpec | None, ...]

    def argument_bytes(self, problem: SearchProblem) -> int:
        """The bytes of all arguments on one device."""
        sizes = dict(self.mesh)
        return sum(
            local_bytes(argument, spec, sizes) for argument, spec in zip(problem.arguments, self.arguments, strict=True)
        )


def by_place(specs: LayoutSpecs) -> LayoutSpecs:
    """Specs whose mesh axes are called by their places: two that differ in the axes' names alone are then equal."""
    return _renamed(specs, [str(place) for place in range(len(specs.mesh))])


def on_mesh(specs: LayoutSpecs, mesh: tuple[tuple[str, int], ...]) -> LayoutSpecs | None:
    """Specs with the axis names of a mesh of the same sizes; None where its sizes are others."""
    if [size for _, size in specs.mesh] != [size for _, size in mesh]:
        return None
    return _renamed(specs, [name for name, _ in mesh])


def _renamed(specs: LayoutSpecs, new: list[str]) -> LayoutSpecs:
    names = dict(zip((name for name, _ in specs.mesh), new, strict=True))
    arguments, results = (
        tuple(spec and tuple(tuple(names[axis] for axis in axes) for axes in spec) for spec in side)
        for side in (specs.arguments, specs.results)
    )
    return LayoutSpecs(tuple((names[name], size) for name, size in specs.mesh), arguments, results)


def local_bytes(argument: SearchedArgument, spec: AxisSpec | None, sizes: dict[str, int]) -> int:
    """The bytes of a leaf on one device; uneven shards are as large as the largest, and None is unsplit."""
    axes = spec if spec is not None else ((),) * len(argument.shape)
    shape = (
        -(-size // math.prod(sizes[name] for name in names)) for size, names in zip(argument.shape, axes, strict=True)
    )
    return (math.prod(shape) * argument.bits + 7) // 8


def specs_of(problem: SearchProblem, candidate: LayoutCandidate) -> LayoutSpecs:
    """The specs that a candidate gives every leaf. A dimension that an axis does not divide evenly stays whole."""
    found: dict[tuple[Any, ...], AxisSpec] = {}
    arguments = tuple(
        problem.limits.keep.get(leaf) or _spec_of_kind(problem, argument, candidate, found)
        for leaf, argument in enumerate(problem.arguments)
    )
    results = tuple(
        arguments[problem.twins[leaf]] if leaf in problem.twins else None for leaf in range(problem.results)
    )
    return LayoutSpecs(tuple((axis.name, axis.size) for axis in candidate.axes), arguments, results)


def _spec_of_kind(
    problem: SearchProblem,
    argument: SearchedArgument,
    candidate: LayoutCandidate,
    found: dict[tuple[Any, ...], AxisSpec],
) -> AxisSpec:
    """The spec of an argument, which equal arguments of other layers share in `found`."""
    kind = (argument.shape, argument.bits, argument.role, argument.dimensions)
    if kind not in found:
        found[kind] = _spec(problem, argument, candidate)
    return found[kind]


def _spec(problem: SearchProblem, argument: SearchedArgument, candidate: LayoutCandidate) -> AxisSpec:
    spec: list[list[MeshAxis]] = [[] for _ in argument.shape]
    for axis in candidate.axes:
        for place, name in enumerate(argument.dimensions):
            if name in axis.splits and _divides(argument, spec, place, axis):
                spec[place].append(axis)
                break
    if argument.is_parameter and argument.bytes >= problem.smallest_stored:
        local = [size // _parts(axes) for size, axes in zip(argument.shape, spec, strict=True)]
        for axis in candidate.storing:
            _store(argument, spec, axis, local)
    return tuple(tuple(axis.name for axis in axes) for axes in spec)


def _store(argument: SearchedArgument, spec: list[list[MeshAxis]], axis: MeshAxis, local: list[int]) -> None:
    """Store a parameter over an axis that does not split it yet: its largest dimension, by the sizes before storing.

    One that is whole comes first: XLA gathers more where one dimension is both split and stored (experts whose weights
    are P('data', None, 'model') take 2.8 ms on eight H100s as compiled, with P(None, None, ('model', 'data')) 3.6).
    """
    if any(axis in axes for axes in spec):
        return
    places = [place for place in range(len(spec)) if _divides(argument, spec, place, axis)]
    if places:
        largest = max(places, key=lambda place: (not spec[place], local[place], -place))
        spec[largest].append(axis)


def _divides(argument: SearchedArgument, spec: list[list[MeshAxis]], place: int, axis: MeshAxis) -> bool:
    return argument.shape[place] > 0 and argument.shape[place] % (_parts(spec[place]) * axis.size) == 0


def _parts(axes: list[MeshAxis]) -> int:
    return math.prod(axis.size for axis in axes)
