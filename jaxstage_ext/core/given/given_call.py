"""The Call of an object that JAX made, instead of a function."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.given import closed_jaxpr, exported, stage_objects
from jaxstage_ext.core.given.given_object import GivenObject, NoFunction


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
        or closed_jaxpr.given(value, args, sizes)
    )


def is_given(value: Any) -> bool:
    """Whether a value is an object that JAX made of a function."""
    return stage_objects.is_one(value) or exported.is_one(value) or closed_jaxpr.is_one(value)


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
