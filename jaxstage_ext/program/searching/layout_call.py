"""The call of a program with a layout that was found: what `inspect(mesh=..., in_specs=...)` is given for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
from jax.sharding import AbstractMesh, AxisType, PartitionSpec

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.layout import specs as argument_specs
from jaxstage_ext.core.layout.meshes import Layout
from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.program.searching.unsharded_call import unsharded_call
from jaxstage_ext.search.layout_specs import LayoutSpecs


def layout_call(program: Program, searchable: SearchableProgram, specs: LayoutSpecs) -> Call:
    """The program's call with the mesh of a layout, whose axes are automatic, and its specs."""
    names, sizes = zip(*specs.mesh, strict=True) if specs.mesh else ((), ())
    mesh = AbstractMesh(sizes, names, axis_types=(AxisType.Auto,) * len(names))
    inputs = argument_trees(program, searchable, specs.arguments)
    return replace(
        unsharded_call(program.call), layout=Layout(mesh, inputs, result_tree(program, searchable, specs.results))
    )


def argument_trees(program: Program, searchable: SearchableProgram, specs: Sequence[AxisSpec | None]) -> dict[str, Any]:
    """By the name of each argument its PartitionSpecs, a tree like its own; arrays that the program does not use are
    replicated.
    """
    call = unsharded_call(program.call)
    by_leaf = {leaf: spec for leaf, spec in zip(searchable.leaves, specs, strict=True) if leaf is not None}
    trees: dict[str, Any] = {}
    at = 0
    for title, value in dynamic_arguments(call).items():
        tree: Any
        leaves, tree = jax.tree.flatten(value)
        given = [by_leaf.get(at + n, ((),)) for n in range(len(leaves))]
        trees[title] = tree.unflatten([None if spec is None else partition_spec(spec) for spec in given])
        at += len(leaves)
    return trees


def dynamic_arguments(call: Call) -> Mapping[str, Any]:
    """The arguments that JAX traces, by name, in the order of the leaves that it gives XLA."""
    titles = argument_specs.titles_of(call)
    static = argument_specs.static_titles(call, titles)
    positional = zip(titles[: len(call.args)], call.args, strict=True)
    values = dict(positional) | {name: call.kwargs[name] for name in sorted(call.kwargs)}
    return {title: value for title, value in values.items() if title not in static}


def result_tree(program: Program, searchable: SearchableProgram, specs: Sequence[AxisSpec | None]) -> Any:
    """PartitionSpecs of the result, None where the compiler chooses; None where it chooses all."""
    if all(spec is None for spec in specs):
        return None
    tokens = len(searchable.results) - program.jax_lowered.out_tree.num_leaves
    made = [None if spec is None else partition_spec(spec) for spec in specs[tokens:]]
    return program.jax_lowered.out_tree.unflatten(made)


def partition_spec(spec: AxisSpec) -> PartitionSpec:
    """JAX's own form, without the dimensions at the end that nothing splits."""
    entries: list[Any] = [None if not axes else axes[0] if len(axes) == 1 else axes for axes in spec]
    while entries and entries[-1] is None:
        entries.pop()
    return PartitionSpec(*entries)  # type: ignore[no-untyped-call]


def axis_spec(spec: PartitionSpec, rank: int) -> AxisSpec:
    """Our form of JAX's own."""
    entries = [*spec, *[None] * (rank - len(spec))]
    return tuple(
        () if entry is None else tuple(map(str, entry)) if isinstance(entry, tuple) else (str(entry),)
        for entry in entries
    )
