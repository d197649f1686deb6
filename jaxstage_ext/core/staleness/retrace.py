"""A second trace of a jitted function, to learn whether JAX still runs what the code says.

Of a trace that JAX made before anyone inspected the function, nobody knows what it read. Tracing once more tells, where
that is little work and runs nothing but the user's own function.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import jax

from jaxstage_ext.core.jax_private import jaxprs, tracing
from jaxstage_ext.core.stage import events
from jaxstage_ext.core.staleness.fingerprints import fingerprint
from jaxstage_ext.core.staleness.function_copy import function_copy
from jaxstage_ext.ir.sources.source import is_outside, is_user
from jaxstage_ext.report.frames import SourceFile

_MOST_EQUATIONS = 1000
"""Above that, a trace takes more than some tenths of a second."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")


class FreshTrace(NamedTuple):
    """How a fresh trace compares with the one that JAX keeps."""

    is_same: bool
    """Whether it gives the same jaxpr, whatever its arrays of JAX hold."""
    literals: tuple[tuple[str, str], ...] = ()
    """(kept, fresh) of the numbers in which alone they differ, as JAX writes them."""
    arrays: tuple[jax.Array, ...] = ()
    """The arrays of JAX of the fresh one, where the kept one has others in their place."""


def fresh_trace(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], kept: Any) -> FreshTrace | None:
    """Trace a jitted function anew; None where that would be much work, or would tell nothing."""
    inner = getattr(fn, "__wrapped__", None)
    if not _is_users(inner) or not _is_plain_jit(fn):
        return None
    if jaxprs.count_equations(kept.jaxpr) > _MOST_EQUATIONS:
        return None
    fresh = _traced(fn, inner, args, kwargs)
    if _is_same(kept, fresh):
        pairs = zip(_constants(kept), _constants(fresh), strict=True)
        return FreshTrace(True, arrays=tuple(b for a, b in pairs if isinstance(b, jax.Array) and a is not b))
    if not _is_same(fresh, _traced(fn, inner, args, kwargs)):
        return None  # no two traces of it are the same
    return FreshTrace(False, jaxprs.differing_literals(kept.jaxpr, fresh.jaxpr))


def _is_users(function: Any) -> bool:
    """Whether it is the user's own function, in nothing but wrappers of JAX: those of others may count their calls."""
    if isinstance(function, functools.partial | MethodType):
        return _is_users(getattr(function, "func", None) or getattr(function, "__func__", None))
    if not isinstance(function, FunctionType):
        return False
    name = function.__code__.co_filename
    if SourceFile(name, user=is_user(name)).package == "jax":
        return _is_users(function.__dict__.get("__wrapped__"))
    return is_user(name) and not is_outside(name)


def _is_plain_jit(fn: Any) -> bool:
    """Whether it is what `jax.jit` gives, without shardings, which a trace may depend on."""
    return hasattr(fn, "_jit_info") and not tracing.own_shardings(fn)


def _traced(fn: Any, inner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    numbers, names = tracing.static_arguments(fn)
    with events.hear():
        return jax.jit(function_copy(inner), static_argnums=numbers, static_argnames=names).trace(*args, **kwargs)


def _is_same(one: Any, other: Any) -> bool:
    texts = [_ADDRESS.sub("0x", traced.jaxpr.jaxpr.pretty_print(use_color=False)) for traced in (one, other)]
    consts = [_constants(traced) for traced in (one, other)]
    return texts[0] == texts[1] and len(consts[0]) == len(consts[1]) and all(map(_is_equal, *consts))


def _constants(traced: Any) -> list[Any]:
    return [getattr(const, "val", const) for const in traced.jaxpr.consts]


def _is_equal(one: Any, other: Any) -> bool:
    """Whether two arrays are the same; arrays of JAX count as equal, since no device is asked."""
    if one is other or isinstance(one, jax.Array) or isinstance(other, jax.Array):
        return True
    first, second = fingerprint(one), fingerprint(other)
    return first is None or second is None or first.equals(second)
