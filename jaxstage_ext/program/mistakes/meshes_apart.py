"""Arguments on meshes that differ in their axes or the types of these, which JAX tells without the arguments."""

from __future__ import annotations

from jaxstage_ext.core.jax_private import named_meshes
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.refused_shardings import leaves
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.shortened import some

_UNEQUAL = "Mesh for all inputs should be equal"
_NAMED = 3


def explanation(program: Program, error: StageError) -> str | None:
    """Which arguments are on which mesh; None for another error, or where the arguments' meshes are one."""
    if _UNEQUAL not in error.message:
        return None
    by_mesh: dict[str, list[str]] = {}
    for name, leaf in leaves(program.call):
        if words := named_meshes.mesh_words(getattr(leaf, "sharding", None)):
            by_mesh.setdefault(words, []).append(name)
    if len(by_mesh) < 2:
        return None
    sides = [f"{_listed(names)} {'is' if len(names) == 1 else 'are'} on mesh {mesh}" for mesh, names in by_mesh.items()]
    first = next(iter(by_mesh.values()))[0]
    return (
        f"{', and '.join(sides)}: move {first} to the mesh of the others with jax.device_put, or use one mesh for all."
    )


def _listed(names: list[str]) -> str:
    return some(names, _NAMED)
