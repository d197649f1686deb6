"""A call as if the user had sharded nothing, and which calls layouts can be searched of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
from jax.sharding import NamedSharding

from jaxstage_ext.core.call import Call, has_method
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.searching import refusal_wording as wording
from jaxstage_ext.report.unavailable import Unavailable


def why_not_searched(program: Program) -> str:
    """Why no layout of a program can be searched, "" where one may; nothing is computed for it."""
    call = program.call
    if call.given is not None or program.is_of_file or program.tab:
        return wording.NOT_A_FUNCTION
    if tracing.is_pmap(call.fn):
        return wording.OF_PMAP
    if has_method(call.fn, "lower") and not has_method(call.fn, "trace"):
        return wording.OF_A_LIBRARY
    if has_own_shardings(call) and not callable(getattr(call.fn, "__wrapped__", None)):
        return wording.JITTED_WITH_SHARDINGS
    return wording.one_device(str(program.target)) if device_count(program) < 2 else ""


def can_be_searched(program: Program) -> bool:
    """Whether the layouts of a program can be searched; nothing is computed for it."""
    return not why_not_searched(program)


def check_searched(program: Program) -> None:
    """Raise Unavailable where no layout can be searched."""
    if why := why_not_searched(program):
        raise Unavailable(why)


def device_count(program: Program) -> int:
    """The devices of the program's target."""
    return program.target.devices or jax.device_count()


def unsharded_call(call: Call) -> Call:
    """The call with shapes in place of sharded arrays, without a layout and without the shardings of its `jax.jit`."""
    args, kwargs = jax.tree.map(_unsharded, (call.args, dict(call.kwargs)))
    if has_own_shardings(call):
        wrapped: Any = call.fn.__wrapped__  # type: ignore[attr-defined]
        call = replace(call, fn=wrapped, jit=tracing.jit_options(call.fn) | dict(call.jit))
    return replace(call, args=args, kwargs=kwargs, layout=None)


def has_own_shardings(call: Call) -> bool:
    """Whether it is of a `jax.jit` object that was made with shardings."""
    return has_method(call.fn, "trace") and bool(tracing.own_shardings(call.fn))


def _unsharded(leaf: Any) -> Any:
    """An array, or its shape, without a sharding over a mesh; anything else as it is."""
    if not isinstance(getattr(leaf, "sharding", None), NamedSharding):
        return leaf
    weak = bool(getattr(leaf, "weak_type", False))
    make: Any = jax.ShapeDtypeStruct
    return make(leaf.shape, leaf.dtype, weak_type=weak)
