"""A program lowered as if the user had sharded nothing: what layouts are searched of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
from jax.sharding import AbstractMesh, AxisType, NamedSharding

from jaxstage_ext.core.call import Call, has_method
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.core.layout.meshes import Layout
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.stage_definition import LOWER
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.searching import refusal_wording as wording
from jaxstage_ext.report.unavailable import Unavailable


@fact
def unsharded_program(program: Program) -> Program:
    """The same call lowered without a sharding of its arguments and results.

    A mesh of the user's stays, with automatic axes, since the function's own constraints name its axes.
    Raises Unavailable where the function fixes the shardings itself or fails without them.
    """
    check_searchable(program)
    staged, *_ = stages.plan_each(unsharded_call(program.call), LOWER, (program.target,), program.limits)
    made = Program(staged)
    made.advance()
    if made.error is not None:
        raise Unavailable(wording.fails_unsharded(made.error.stage, made.error.message))
    return made


def why_not_searchable(program: Program) -> str:
    """Why no layout of a program can be searched, "" where one can; nothing is traced for it."""
    call = program.call
    if call.given is not None or program.is_of_file or program.tab:
        return wording.NOT_A_FUNCTION
    if tracing.is_pmap(call.fn):
        return wording.OF_PMAP
    if has_method(call.fn, "lower") and not has_method(call.fn, "trace"):
        return wording.OF_A_LIBRARY
    if has_method(call.fn, "trace") and tracing.own_shardings(call.fn):
        return wording.JITTED_WITH_SHARDINGS
    devices = device_count(program)
    return wording.one_device(str(program.target)) if devices < 2 else ""


def check_searchable(program: Program) -> None:
    """Raise Unavailable where no layout can be searched."""
    if why := why_not_searchable(program):
        raise Unavailable(why)


def device_count(program: Program) -> int:
    """The devices of the program's target."""
    return program.target.devices or jax.device_count()


def unsharded_call(call: Call) -> Call:
    """The call with shapes for arrays, and without PartitionSpecs."""
    args, kwargs = jax.tree.map(_unsharded, (call.args, dict(call.kwargs)))
    mesh = mesh_of(call)
    layout = None if mesh is None else Layout(_automatic(mesh))
    return replace(call, args=args, kwargs=kwargs, layout=layout)


def mesh_of(call: Call) -> Any:
    """The mesh that the user gives a call: its layout's, that of its arguments, or the one that is set; or None."""
    if call.layout is not None:
        return call.layout.mesh
    for leaf in jax.tree.leaves((call.args, dict(call.kwargs))):
        sharding = getattr(leaf, "sharding", None)
        if isinstance(sharding, NamedSharding):
            return sharding.mesh
    around = jax.sharding.get_abstract_mesh()
    return None if around.empty else around


def _unsharded(leaf: Any) -> Any:
    """An array, or its shape, without a sharding; anything else as it is."""
    if not isinstance(leaf, jax.Array | jax.ShapeDtypeStruct):
        return leaf
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.extended):
        return leaf
    weak = bool(getattr(leaf, "weak_type", False))
    make: Any = jax.ShapeDtypeStruct
    return make(leaf.shape, leaf.dtype, weak_type=weak)


def _automatic(mesh: Any) -> AbstractMesh:
    return AbstractMesh(mesh.axis_sizes, mesh.axis_names, axis_types=(AxisType.Auto,) * len(mesh.axis_names))
