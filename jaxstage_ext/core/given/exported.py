"""A `jax.export.Exported`, as it is given: JAX lowers its call for a target; of the function there is no jaxpr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
from jax import export

from jaxstage_ext.core.given import symbolic
from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.jax_private.given_objects import CallInfo
from jaxstage_ext.core.staged import LOWER
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.report.unavailable import Unavailable


def given(value: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], sizes: Mapping[str, int]) -> GivenObject | None:
    """An Exported, with its own argument types or these arguments; None for another value.

    Raises SymbolicAxis where a type has a symbolic axis of no known size.
    """
    if not isinstance(value, export.Exported):
        return None
    if not args and not kwargs:
        shapes = [symbolic.sized(aval, sizes) for aval in value.in_avals]
        args, kwargs = jax.tree.unflatten(value.in_tree, shapes)
    leaves = jax.tree_util.tree_leaves_with_path((args, dict(kwargs)))
    info = CallInfo(value.fun_name, tuple(_path(path) for path, _ in leaves), (), ())

    def lowered(target: Target) -> Any:
        _check_platform(value, target)
        traced = jax.jit(value.call).trace(*args, **kwargs)
        return traced.lower() if target.is_local else traced.lower(lowering_platforms=(target.platform,))

    return GivenObject("Exported", LOWER, value, lowered, tuple(args), dict(kwargs), info, is_made=True)


def is_one(value: Any) -> bool:
    """Whether a value is an Exported."""
    return isinstance(value, export.Exported)


def _path(path: Any) -> str:
    """`args[0]['w']` of a leaf of (args, kwargs)."""
    root = "args" if path[0].idx == 0 else "kwargs"
    return root + jax.tree_util.keystr(path[1:])


def _check_platform(value: Any, target: Target) -> None:
    wanted = cross_compile.platform_of(target)
    if wanted not in value.platforms:
        raise Unavailable(
            f"it was exported for {' and '.join(value.platforms)}, not for {wanted}; export it with "
            f"platforms={sorted({*value.platforms, wanted})}, or name a target that it is for"
        )
