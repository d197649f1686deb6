"""The layout that a program was lowered with: what its arguments' and results' shardings say."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.worker.inside.partitioning.sharding_specs import SpecReader
from jaxstage_ext.worker.inside.partitioning.user_constraints import mesh_of, meshes_of

_SHARDING = "sdy.sharding"


def read(module: Any, main: Any) -> dict[str, Any] | None:
    """{"mesh": (axis, size) pairs, "arguments", "results"}, None of a value without a sharding; None without a mesh."""
    from jaxlib.mlir.dialects import sdy

    meshes, found = meshes_of(module), dict[str, int]()
    reader = SpecReader()
    sides: dict[str, list[Any]] = {}
    with module.context:
        for side, name in (("arguments", "arg_attrs"), ("results", "res_attrs")):
            sides[side] = []
            for given in _attributes(main, name):
                if _SHARDING not in given:
                    sides[side].append(None)
                    continue
                attribute = given[_SHARDING]
                found = found or mesh_of(sdy.TensorShardingAttr(attribute), meshes)
                sides[side].append(reader.spec(attribute))
    return {"mesh": list(found.items()), **sides} if found else None


def _attributes(main: Any, name: str) -> list[Any]:
    return list(main.attributes[name]) if name in main.attributes else []
