"""A call with another sharding of one of its arguments, or without one of its result."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.inputs.pytree_paths import path_text
from jaxstage_ext.core.layout import specs
from jaxstage_ext.report.unavailable import Unavailable


def with_argument(call: Call, name: str, spec: str) -> Call:
    """The call with an argument's array, such as "w[1]", sharded as a PartitionSpec that is written "P('x', None)".

    Raises Unavailable where it has no such array, or that has no NamedSharding.
    """
    args, kwargs = specs.arguments(call)
    found: list[NamedSharding] = []

    def changed(title: str, value: Any) -> Any:
        def leaf(path: Any, array: Any) -> Any:
            placed = getattr(array, "sharding", None)
            if title + path_text(path) != name or not isinstance(placed, NamedSharding):
                return array
            found.append(placed)
            other = NamedSharding(placed.mesh, partition_spec(spec))
            return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=other)  # type: ignore[no-untyped-call]

        return jax.tree_util.tree_map_with_path(leaf, value)

    values = [changed(*each) for each in zip(specs.titles_of(call), (*args, *kwargs.values()), strict=True)]
    if not found:
        raise Unavailable(f"{name} is no argument that was given a sharding")
    layout = None if call.layout is None else replace(call.layout, inputs=())
    return replace(call, args=tuple(values[: len(args)]), kwargs=dict(zip(kwargs, values[len(args) :], strict=True)),
                   layout=layout)  # fmt: skip


def without_out_specs(call: Call) -> Call:
    """The call whose result keeps the sharding that it is computed with. Raises Unavailable where none was given."""
    if call.layout is None or call.layout.outputs is None:
        raise Unavailable("no out_specs were given")
    return replace(call, layout=replace(call.layout, outputs=None))


def partition_spec(text: str) -> PartitionSpec:
    """The PartitionSpec that is written so. Raises Unavailable for what is none."""
    try:
        called = ast.parse(text.strip(), mode="eval").body
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and not called.keywords:
            return PartitionSpec(*map(ast.literal_eval, called.args))  # type: ignore[no-untyped-call]
    except (SyntaxError, ValueError):
        pass
    raise Unavailable(f"{text} is not a PartitionSpec of named axes")
