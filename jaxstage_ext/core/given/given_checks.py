"""What cannot be asked of an object that JAX has made of a function already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.core.stage.staged import COMPILE
from jaxstage_ext.report.text.units import with_article


def check(
    given: GivenObject,
    stage: str,
    compiler_options: Mapping[str, Any],
    jit: Mapping[str, Any] | None = None,
    has_mesh: bool = False,
) -> None:
    """Raise ValueError where the object has no such stage, or comes too late for these options."""
    what = with_article(given.kind)
    if given.stage not in (definition.name for definition in stage_list.up_to(stage)):
        raise ValueError(
            f"{what} begins with the {given.stage} stage, and {stage!r} comes before it; use {given.stage!r}"
        )
    if given.stage == COMPILE and compiler_options:
        raise ValueError(
            f"{what} is compiled already, so {', '.join(compiler_options)} cannot be set; give the Lowered it is of"
        )
    if jit:
        raise ValueError(f"{what} is past jax.jit, so {', '.join(jit)} cannot be added; set it where it is jitted")
    if has_mesh:
        raise ValueError(f"{what} has its mesh already; give the function to lay it out on another one")
