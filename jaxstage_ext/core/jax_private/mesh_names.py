"""The meshes that a program names: those of its arguments, of `jax.jit`, and of what is inside its function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax

from jaxstage_ext.core.jax_private.jaxprs import nested_equations
from jaxstage_ext.core.jax_private.tracing import given_shardings


@dataclass(frozen=True)
class NamedMesh:
    """A mesh that a program names: the ids of its devices, None of an abstract one, and `data=4, model=2`."""

    ids: tuple[int, ...] | None
    count: int
    sizes: str

    def fits(self, ids: tuple[int, ...] | None, count: int) -> bool:
        """Whether it may be the mesh of so many devices with these ids, either unknown where None."""
        return self.count == count and (self.ids is None or ids is None or self.ids == ids)


def named_meshes(fn: Any, traced: Any, shardings: Sequence[Any]) -> list[NamedMesh]:
    """The meshes of these shardings, of those that `jax.jit` was given, and of a trace; concrete ones first."""
    given = [*shardings, *given_shardings(fn)]
    if traced is not None:
        given += [
            one
            for eqn, _ in nested_equations(traced.jaxpr.jaxpr)
            for name in ("mesh", "sharding", "in_shardings", "out_shardings", "devices")
            for one in jax.tree.leaves(eqn.params.get(name))
        ]
        given.append(getattr(traced, "_params", {}).get("ctx_mesh"))
    meshes = [mesh for one in given if (mesh := _mesh(one)) is not None and not mesh.empty]
    found = dict.fromkeys(NamedMesh(_ids(mesh), mesh.size, _sizes(mesh)) for mesh in meshes)
    return sorted(found, key=lambda mesh: mesh.ids is None)


def mesh_words(sharding: Any) -> str:
    """`d=4 (Explicit)`: the mesh of a sharding with the types of its axes; "" for one without a mesh."""
    mesh = _mesh(sharding)
    if mesh is None or mesh.empty:
        return ""
    types = dict.fromkeys(getattr(kind, "name", str(kind)) for kind in mesh.axis_types)
    return f"{_sizes(mesh)} ({', '.join(types)})"


def _mesh(value: Any) -> Any:
    return value if isinstance(value, jax.sharding.Mesh | jax.sharding.AbstractMesh) else getattr(value, "mesh", None)


def _ids(mesh: Any) -> tuple[int, ...] | None:
    return tuple(device.id for device in mesh.devices.flat) if isinstance(mesh, jax.sharding.Mesh) else None


def _sizes(mesh: Any) -> str:
    return ", ".join(f"{name}={size}" for name, size in mesh.shape.items())
