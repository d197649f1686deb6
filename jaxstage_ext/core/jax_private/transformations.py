"""JAX's transformations, told by the functions that they make, and the options that those hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from jaxstage_ext.core.jax_private.compile_frames import is_jax

_MADE = {
    "jacfwd.<locals>.jacfun": "jax.jacfwd",
    "jacrev.<locals>.jacfun": "jax.jacrev",
    "grad_f": "jax.grad",
    "grad_f_aux": "jax.grad",
    "value_and_grad_f": "jax.value_and_grad",
    "vmap_f": "jax.vmap",
    "fun_remat": "jax.checkpoint",
    "_shard_map.<locals>.wrapped": "jax.shard_map",
}
_USUAL: dict[str, Any] = {
    "in_axes": 0,
    "out_axes": 0,
    "axis_name": None,
    "axis_size": None,
    "spmd_axis_name": None,
    "argnums": 0,
    "has_aux": False,
    "holomorphic": False,
    "allow_int": False,
    "prevent_cse": True,
    "static_argnums": (),
    "static_argnames": (),
}
"""The options of the transformations by name, with their defaults, which are the same in each of them."""
_DEEPEST = 4


def transformation(names: Iterable[str]) -> str:
    """The transformation that made a function of JAX's with one of these names; "jax" where none is known."""
    return next((_MADE[name] for name in names if name in _MADE), "jax")


def given_options(made: FunctionType, transformed: Any) -> dict[str, Any]:
    """The options that a transformation was given besides the function that it transforms, by name."""
    found = dict(_options(made, transformed, 0))
    return {name: found[name] for name in _USUAL if name in found}


def _options(made: FunctionType, transformed: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Those in the variables that a function of JAX's captured, itself or through others of JAX's."""
    for name, value in captured_variables(made):
        if name in _USUAL:
            if type(value) is not type(_USUAL[name]) or value != _USUAL[name]:
                yield name, value
        elif _is_jax_function(value) and value is not transformed and depth < _DEEPEST:
            yield from _options(value, transformed, depth + 1)


def _is_jax_function(value: Any) -> bool:
    return type(value) is FunctionType and is_jax(value.__code__.co_filename)


def captured_variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables that a function captured, by name, those that are assigned."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
