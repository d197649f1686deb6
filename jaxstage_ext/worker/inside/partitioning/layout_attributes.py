"""Writing a layout into a module: its mesh, and the shardings of its arguments and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxstage_ext.worker.inside.partitioning.user_constraints import MESH, put_mesh

Spec = Sequence[Sequence[str]]


def write(module: Any, main: Any, layout: Mapping[str, Any]) -> None:
    """Set the mesh and shardings of a module; `layout` has "mesh" as (axis, size) pairs, "arguments" and "results"."""
    put_mesh(module, layout["mesh"])
    main.attributes["arg_attrs"] = _attributes(layout["arguments"])
    if layout["results"] is not None:
        main.attributes["res_attrs"] = _attributes(layout["results"])


def _attributes(specs: Sequence[Spec | None]) -> Any:
    from jaxlib.mlir import ir

    return ir.ArrayAttr.get(
        [ir.DictAttr.get({} if spec is None else {"sdy.sharding": sharding(spec)}) for spec in specs]
    )


def sharding(spec: Spec) -> Any:
    """The attribute of a spec: dimensions that are split by these axes, and by no others."""
    from jaxlib.mlir.dialects import sdy

    dimensions = [
        sdy.DimensionShardingAttr.get([sdy.AxisRefAttr.get(axis) for axis in axes], is_closed=True) for axes in spec
    ]
    return sdy.TensorShardingAttr.get(MESH, dimensions)
