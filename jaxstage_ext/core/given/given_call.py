"""The Call of an object that JAX made, instead of a function."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.given import exported, stage_objects, symbolic
from jaxstage_ext.core.given.given_object import GivenObject, NoFunction
from jaxstage_ext.core.jax_private.given_objects import call_info
from jaxstage_ext.core.jax_private.jaxprs import ClosedJaxpr, jaxpr_as_fun
from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.core.stage.stage_definition import COMPILE, TRACE
from jaxstage_ext.report.text.units import with_article


def given_object(
    value: Any,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] = MappingProxyType({}),
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> GivenObject | None:
    """The object of JAX's that a value is; None for a function and everything else.

    `args` and `kwargs` are what a Compiled or Exported is called with; without them it has the types that it was made
    with. `sizes` are those of symbolic axes, by name.

    Raises:
      TypeError: it does not take these arguments.
      SymbolicAxis: an axis is symbolic, and `sizes` lacks it.
    """
    return (
        stage_objects.given(value, args, kwargs)
        or exported.given(value, args, kwargs, sizes)
        or of_closed_jaxpr(value, args, sizes)
    )


def is_given(value: Any) -> bool:
    """Whether a value is an object that JAX made of a function."""
    return stage_objects.is_one(value) or exported.is_one(value) or is_closed_jaxpr(value)


def given_call(
    given: GivenObject, name: str = "", cell: str | None = None, compiler_options: Mapping[str, Any] | None = None
) -> Call:
    """The Call that stages an object."""
    return Call(
        NoFunction(given.kind),
        given.args,
        given.kwargs,
        name or given.info.name or given.kind,
        cell=cell,
        compiler_options=compiler_options or {},
        given=given,
    )


def of_closed_jaxpr(value: Any, args: tuple[Any, ...], sizes: Mapping[str, int]) -> GivenObject | None:
    """A ClosedJaxpr, with the types of its inputs or these arguments; None for another value.

    Raises SymbolicAxis where a type has a symbolic axis of no known size.
    """
    if not isinstance(value, ClosedJaxpr):
        return None
    inputs = args or tuple(symbolic.sized(aval, sizes) for aval in value.in_avals)
    traced = jax.jit(jaxpr_as_fun(value))
    return GivenObject(
        "ClosedJaxpr", TRACE, value, lambda target: traced.trace(*inputs), tuple(inputs), {}, call_info(value), True
    )


def is_closed_jaxpr(value: Any) -> bool:
    """Whether a value is a ClosedJaxpr."""
    return isinstance(value, ClosedJaxpr)


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
