"""Jacobians in a jaxpr, by the functions of JAX's that made them: `jax.jacrev` and `jax.jacfwd`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from jaxstage_ext.core.jax_private import jaxprs

_FUNCTIONS = {"jacrev.<locals>.jacfun": True, "jacfwd.<locals>.jacfun": False}
_PARTS = ("_jacrev_unravel", "_jacfwd_unravel")


@dataclass
class Jacobian:
    """One of a function of several values."""

    is_reverse: bool
    passes: int
    """Elements of the results in reverse mode, of the arguments in forward mode: how many derivatives are taken."""
    others: int
    """Elements of the arguments, or of the results: how many the other mode would take."""
    equation: Any


def found(jaxpr: Any) -> list[Jacobian]:
    """Those of a jaxpr, at any depth."""
    made: dict[Any, Jacobian] = {}
    for body in jaxprs.all_jaxprs(jaxpr):
        for eqn in body.eqns:
            if eqn.primitive.name in ("eq", "split"):
                _read(eqn, id(body), made)
    return [one for one in made.values() if one.others]


def _read(eqn: Any, body: int, made: dict[Any, Jacobian]) -> None:
    traceback = eqn.source_info.traceback
    codes, lasts = traceback.raw_frames() if traceback is not None else ((), ())
    names = [code.co_qualname for code in codes]
    at = next((at for at, name in enumerate(names) if name in _FUNCTIONS), -1)
    if at < 0:
        return
    key = body, names[at], *((codes[more], lasts[more]) for more in (at + 1, at + 2) if more < len(codes))
    shape = eqn.invars[0].aval.shape
    if eqn.primitive.name == "eq" and "_std_basis" in names[:at]:
        made[key] = Jacobian(_FUNCTIONS[names[at]], shape[0], 0, eqn)
    elif key in made and any(name in _PARTS for name in names[:at]):
        made[key].others += math.prod(shape) // made[key].passes


def in_other_mode(fn: Any) -> Callable[..., Any] | None:
    """The Jacobian in the other mode of a function that is a Jacobian, jitted or not; None of other functions."""
    inner = fn
    while getattr(getattr(inner, "__code__", None), "co_qualname", "") not in _FUNCTIONS:
        inner = getattr(inner, "__wrapped__", None)
        if inner is None:
            return None
    options = dict(zip(inner.__code__.co_freevars, (cell.cell_contents for cell in inner.__closure__), strict=True))
    other = jax.jacfwd if _FUNCTIONS[inner.__code__.co_qualname] else jax.jacrev
    return other(options["fun"], options["argnums"], has_aux=options["has_aux"], holomorphic=options["holomorphic"])


def differentiated(fn: Any) -> str:
    """The name of the function whose Jacobian a function is; "" without."""
    inner = fn
    while inner is not None and getattr(getattr(inner, "__code__", None), "co_qualname", "") not in _FUNCTIONS:
        inner = getattr(inner, "__wrapped__", None)
    name = str(getattr(inner, "__name__", ""))
    return name if name.isidentifier() else ""
