"""What the user fixes of all layouts, checked: the mesh, the specs that arguments keep, the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.sharding import PartitionSpec

from jaxstage_ext.core.layout import meshes
from jaxstage_ext.core.layout.meshes import MeshError, is_spec
from jaxstage_ext.ir.partitioning.module_layout import AxisSpec, undivided
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.program.searching import refusal_wording as wording
from jaxstage_ext.program.searching.layout_call import axis_spec, dynamic_arguments
from jaxstage_ext.program.searching.unsharded_call import device_count, unsharded_call
from jaxstage_ext.search.search_problem import SearchLimits


@dataclass(frozen=True)
class FixedChoices:
    """What the user fixes, as given.

    Attributes:
      mesh: "data=4,model=2", sizes by name, or a mesh of JAX's; None lets the search choose.
      keep: PartitionSpecs, or prefixes of pytrees of them, by the name of the argument.
      replicated: whether an axis of the mesh may do nothing.
      most_axes: of a mesh that the search chooses.
      most_split: per named dimension the most devices that it is split over; 1: not at all.
    """

    mesh: Any = None
    keep: Mapping[str, Any] = field(default_factory=dict)
    replicated: bool = True
    most_axes: int = 3
    most_split: Mapping[str, int] = field(default_factory=dict)


def search_limits(program: Program, searchable: SearchableProgram, fixed: FixedChoices) -> SearchLimits:
    """The limits of a search. Raises MeshError, in one line, for what cannot be."""
    mesh = _mesh(program, fixed.mesh)
    keep = _kept(program, searchable, fixed.keep)
    named = list(dict.fromkeys(axis for spec in keep.values() for axes in spec for axis in axes))
    named += [name for name, _ in searchable.module.constraints if name not in named]
    if mesh and (missing := [name for name in named if name not in dict(mesh)]):
        raise MeshError(wording.no_such_axis(missing[0], ", ".join(f"{name}={size}" for name, size in mesh)))
    _check_divided(searchable, keep, dict(mesh))
    return SearchLimits(
        mesh=mesh,
        names=() if mesh else tuple(named),
        keep=keep,
        replicated=fixed.replicated,
        most_axes=fixed.most_axes,
        most_split=dict(fixed.most_split),
    )


def _mesh(program: Program, given: Any) -> tuple[tuple[str, int], ...]:
    if given is None:
        return ()
    mesh = meshes.build(given, (), compiled=False)
    room = device_count(program)
    if mesh.size != room:
        raise MeshError(wording.devices_of_mesh(meshes.shown(mesh), mesh.size, str(program.target), room))
    return tuple((str(name), int(size)) for name, size in mesh.shape.items())


def _kept(program: Program, searchable: SearchableProgram, keep: Mapping[str, Any]) -> dict[int, AxisSpec]:
    """Per argument of the module the spec that it keeps."""
    arguments = dynamic_arguments(unsharded_call(program.call))
    if unknown := [name for name in keep if name not in arguments]:
        raise MeshError(wording.no_such_argument(unknown[0], list(arguments)))
    number = {leaf: at for at, leaf in enumerate(searchable.leaves) if leaf is not None}
    kept: dict[int, AxisSpec] = {}
    at = 0
    for name, value in arguments.items():
        specs = _expanded(name, keep.get(name), value)
        for place, (spec, leaf) in enumerate(zip(specs, jax.tree.leaves(value), strict=True)):
            if spec is not None and at + place in number:
                kept[number[at + place]] = _of_rank(name, spec, len(jax.numpy.shape(leaf)))
        at += len(specs)
    return kept


def _expanded(name: str, specs: Any, value: Any) -> list[PartitionSpec | None]:
    """The spec of each leaf, from a prefix of the tree."""
    tree: Any
    flat, tree = jax.tree.flatten(specs, is_leaf=is_spec)
    try:
        parts = tree.flatten_up_to(value)
    except ValueError as error:
        raise MeshError(
            f"keep of {name} must be a prefix of the argument's pytree: {meshes.first_line(error)}"
        ) from None
    if wrong := [spec for spec in flat if not is_spec(spec)]:
        raise MeshError(wording.no_spec(name, repr(wrong[0])[:60]))
    return [spec for spec, part in zip(flat, parts, strict=True) for _ in jax.tree.leaves(part)]


def _of_rank(name: str, spec: PartitionSpec, rank: int) -> AxisSpec:
    if len(spec) > rank:
        raise MeshError(wording.too_many_entries(name, str(spec), rank))
    return axis_spec(spec, rank)


def _check_divided(searchable: SearchableProgram, keep: Mapping[int, AxisSpec], mesh: Mapping[str, int]) -> None:
    for number, spec in keep.items() if mesh else ():
        shape = searchable.module.values[searchable.module.arguments[number]].shape
        for at, size, parts in undivided(shape, spec, mesh):
            raise MeshError(wording.not_divided(searchable.arguments[number], at, size, parts))
