"""Calls through `equinox.filter_jit` as their author wrote them: arrays are arguments, all else is static.

Equinox jits one wrapper of its own, which is given the flattened arguments; checked with equinox 0.13.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any, NamedTuple

import jax

from jaxstage_ext.compilation.records.compile_record import CallSignature, FunctionIdentity, KeptValue
from jaxstage_ext.compilation.records.value_keeping import kept_value
from jaxstage_ext.core.inputs.pytree_paths import path_text

LAYER = "equinox.filter_jit"
_WRAPPER = "_filter_jit_cache.<locals>.fun_wrapped"
_PARTS = ("fun", "first", "rest")


class EquinoxCall(NamedTuple):
    """A call of the user's function."""

    fun: Any
    """The function; of a module that is called, its class's `__call__`."""
    arguments: tuple[tuple[Any, ...], dict[str, Any]]
    """(args, kwargs) with the places of arrays among those of the wrapper, or what is static."""


class _Place(int):
    """Where an array stands among those of the wrapper."""


def is_wrapper(fun: Any) -> bool:
    """Whether it is what Equinox gives to `jax.jit`."""
    return type(fun) is FunctionType and fun.__code__.co_qualname == _WRAPPER


def equinox_call(args: tuple[Any, ...]) -> EquinoxCall:
    """The call that the wrapper's arguments stand for. Raises where this Equinox passes others."""
    donated, kept, static = args
    places = dict(_numbered(donated, kept))
    fun, first, (rest, keywords) = (
        _combined(places[part], of_part) for part, of_part in zip(_PARTS, static, strict=True)
    )
    given = (first, *rest)[:-1]
    if isinstance(fun, _callable_types()):
        return EquinoxCall(fun, (given, keywords))
    return EquinoxCall(type(fun).__call__, ((fun, *given), keywords))


def _callable_types() -> tuple[type, ...]:
    return (FunctionType, type(jax.jit(len)), type)


def _numbered(*groups: dict[str, tuple[Any, ...]]) -> Iterator[tuple[str, list[_Place | None]]]:
    """Each part's leaves as the places of its arrays, in the order in which JAX flattens them."""
    at = 0
    for group in groups:
        for part in sorted(group):
            places: list[_Place | None] = []
            for leaf in group[part]:
                places.append(None if leaf is None else _Place(at))
                at += leaf is not None
            yield part, places


def _combined(places: list[_Place | None], static: tuple[tuple[Any, ...], Any]) -> Any:
    leaves, tree = static
    merged = [place if leaf is None else leaf for place, leaf in zip(places, leaves, strict=True)]
    return jax.tree.unflatten(tree, merged)


def equinox_signature(call: EquinoxCall, function: FunctionIdentity, wrapper: CallSignature) -> CallSignature:
    """The signature of the user's call, from that of the wrapper."""
    paths = jax.tree_util.tree_leaves_with_path(call.arguments)
    order = [int(leaf) for _, leaf in paths if type(leaf) is _Place]
    dynamic = jax.tree.map(lambda leaf: leaf if type(leaf) is _Place else None, call.arguments)
    return CallSignature(
        jax.tree.structure(dynamic),
        tuple(wrapper.avals[at] for at in order),
        tuple(wrapper.placements[at] for at in order),
        tuple(wrapper.kinds[at] for at in order),
        tuple(_static(path, leaf, function) for path, leaf in paths if type(leaf) is not _Place),
        tuple(call.arguments[1]),
    )


def _static(path: tuple[Any, ...], leaf: Any, function: FunctionIdentity) -> KeptValue:
    head, rest = path[1], path_text(path[2:])
    if isinstance(head, jax.tree_util.SequenceKey):
        known = head.idx < len(function.parameters)
        return kept_value((function.parameters[head.idx] if known else f"args[{head.idx}]") + rest, leaf)
    return kept_value(str(head.key) + rest, leaf)
