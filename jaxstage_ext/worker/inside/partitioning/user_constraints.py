"""The user's `with_sharding_constraint`s, which a round trip through HLO leaves as custom calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MESH = "mesh"
"""The name of the one mesh of a module that a layout is put into."""
_TARGET = "Sharding"
_SHARDING = "sdy.sharding"


def import_constraints(module: Any, kept: bool) -> list[tuple[str, int]]:
    """Make them `sdy.sharding_constraint`s over one mesh again, which each layout replaces by its own.

    Gives the axes that they name, with their sizes in the program's mesh. Where they are not `kept` all go.
    """
    meshes, named = meshes_of(module), dict[str, int]()
    with module.context:
        for call in _calls(module):
            if target(call) == _TARGET:
                _replace(call, meshes, named, kept)
            elif _SHARDING in call.attributes:  # a callback, on one device
                del call.attributes[_SHARDING]
        for each in list(module.body.operations):
            if each.operation.name == "sdy.mesh":
                each.operation.erase()
        put_mesh(module.operation, named.items())
    return list(named.items())


def put_mesh(module: Any, axes: Iterable[tuple[str, int]]) -> None:
    """Give a module, an operation, its one mesh, in place of the one that it has."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import sdy

    made = sdy.MeshAttr.get([sdy.MeshAxisAttr.get(name, size) for name, size in axes])
    block = module.regions[0].blocks[0]
    for each in block.operations:
        if each.operation.name == "sdy.mesh":
            each.operation.attributes["mesh"] = made
            return
    with ir.InsertionPoint.at_block_begin(block), ir.Location.unknown():
        sdy.MeshOp(MESH, made)


def target(call: Any) -> str:
    """What a custom call calls."""
    from jaxlib.mlir import ir

    return str(ir.StringAttr(call.attributes["call_target_name"]).value)


def _calls(module: Any) -> list[Any]:
    from jaxlib.mlir import ir

    found: list[Any] = []

    def visit(each: Any) -> Any:
        if each.name == "stablehlo.custom_call":
            found.append(each)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def meshes_of(module: Any) -> dict[str, dict[str, int]]:
    """The axes of each mesh and their sizes, by the mesh's name."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import sdy

    found = {}
    for each in module.body.operations:
        attributes = each.operation.attributes
        if each.operation.name == "sdy.mesh":
            axes = (sdy.MeshAxisAttr(axis) for axis in sdy.MeshAttr(attributes["mesh"]).axes)
            found[str(ir.StringAttr(attributes["sym_name"]).value)] = {axis.name: axis.size for axis in axes}
    return found


def _replace(call: Any, meshes: dict[str, dict[str, int]], named: dict[str, int], kept: bool) -> None:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import sdy

    made = call.operands[0]
    if kept and _SHARDING in call.attributes:
        given = sdy.TensorShardingAttr(sdy.TensorShardingPerValueAttr(call.attributes[_SHARDING]).shardings[0])
        _note_axes(given, meshes, named)
        parts = (given.dimension_shardings, given.replicated_axes, given.unreduced_axes)
        with call.location, ir.InsertionPoint(call):
            made = sdy.ShardingConstraintOp(made, sdy.TensorShardingAttr.get(MESH, *parts)).result
    call.results[0].replace_all_uses_with(made)
    call.erase()


def mesh_of(sharding: Any, meshes: dict[str, dict[str, int]]) -> dict[str, int]:
    """The mesh that a sharding names; {} of one that it holds itself."""
    from jaxlib.mlir import ir

    mesh = sharding.mesh_or_ref
    return meshes.get(str(ir.FlatSymbolRefAttr(mesh).value), {}) if isinstance(mesh, ir.FlatSymbolRefAttr) else {}


def _note_axes(sharding: Any, meshes: dict[str, dict[str, int]], named: dict[str, int]) -> None:
    from jaxlib.mlir.dialects import sdy

    sizes = mesh_of(sharding, meshes)
    dimensions = [sdy.DimensionShardingAttr(each).axes for each in sharding.dimension_shardings]
    for axes in (*dimensions, sharding.replicated_axes, sharding.unreduced_axes):
        for axis in axes:
            name = str(sdy.AxisRefAttr(axis).name)
            named[name] = sizes.get(name, 1)
