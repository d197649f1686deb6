"""Executables that JAX's persistent cache gave: whether they were compiled from another program, and their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxstage_ext.core.stage.stage_definition import COMPILE, StagedProgram
from jaxstage_ext.core.stage.staged import Cache, Staged

if TYPE_CHECKING:
    from jaxstage_ext.ir.hlo.places.cached_places import CachedPlaces


def may_name_other_lines(staged: Staged) -> bool:
    """Whether JAX's persistent cache may have given the executable, so that it may name another program's lines.

    The cache takes programs as equal that differ in lines, files, names of functions and name scopes only.
    """
    from jaxstage_ext.core.jax_private import persistent_cache

    stage = staged.stage(COMPILE)
    if stage is None or stage.hit is None or not staged.target.is_local:
        return False
    if stage.hit.cache is Cache.PERSISTENT:
        return True
    return stage.hit.cache is Cache.PROCESS and bool(persistent_cache.state().folder)


def places(program: StagedProgram) -> CachedPlaces | None:
    """The places of an executable that was compiled from an earlier program; None where its places are its own."""
    from jaxstage_ext.ir.hlo.places.cached_places import cached_places, unknown_places

    lowered = program.documents.get("stablehlo")
    if lowered is None or not program.has_hlo or not may_name_other_lines(program.staged):
        return None
    try:
        return cached_places(program.module, lowered, program.frame_table)
    except RecursionError:  # calls that are nested hundreds deep
        return unknown_places(program.module)
