"""A pmap inside a pmap, which JAX has no more and tells as two meshes that should match."""

from __future__ import annotations

from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError

_AXIS, _MISMATCH = "_internal_pmap_axis_name", "should match the mesh passed to shard_map"


def explanation(program: Program, error: StageError) -> str | None:
    """What stands for it today; None for another error."""
    if _AXIS not in error.message or _MISMATCH not in error.message:
        return None
    return (
        "A pmap inside a pmap is gone from JAX: use jax.vmap for the inner one, or one jax.shard_map over a mesh of "
        "two axes for both."
    )
