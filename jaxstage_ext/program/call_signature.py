"""A call in one line: its name, what it is given and what it returns, in JAX's short names of types."""

from __future__ import annotations

import inspect as _inspect
from typing import Any

import jax
import numpy as np

from jaxstage_ext.core import stages
from jaxstage_ext.core.call import Call
from jaxstage_ext.report.units import plural, scaled

_SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf", "bool": "bool"}


def short_dtype(dtype: Any) -> str:
    """JAX's short name of a dtype: "f32", "bf16", "bool", "key<fry>"."""
    name = str(getattr(dtype, "name", dtype))
    kind = name.rstrip("0123456789")
    return _SHORT[kind] + name[len(kind) :] if kind in _SHORT and kind != "bool" else name


def short_value(value: Any) -> str:
    """One argument in a few characters: "f32[8,128]", "26 arrays, 1.1 MB", "3"."""
    leaves = jax.tree.leaves(value)
    if len(leaves) == 1 and leaves[0] is value:
        return _leaf(value)
    if not leaves:
        return _clip(repr(value))
    sizes = [_nbytes(leaf) for leaf in leaves]
    total = f", {scaled(sum(s for s in sizes if s), 'B')}" if all(s is not None for s in sizes) else ""
    return f"{type(value).__name__} of {plural(len(leaves), 'leaf', 'leaves')}{total}"


def _leaf(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{short_dtype(value.dtype)}[{','.join(map(str, value.shape))}]"
    if isinstance(value, bool | int | float | complex):
        return repr(value)
    return _clip(repr(value))


def _clip(text: str, most: int = 40) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _nbytes(leaf: Any) -> int | None:
    try:
        return int(np.prod(leaf.shape)) * int(leaf.dtype.itemsize)
    except (AttributeError, TypeError):
        return None


def signature(call: Call, out: Any) -> str:
    """`loss(w: f32[128,512], x: f32[8,128]) -> f32[]`; `out` is a pytree or None while unknown."""
    parts = [f"{name}: {short_value(value)}" for name, value in _named(call).items()]
    arrow = f" -> {short_value(out)}" if out is not None else ""
    return f"{stages.call_name(call)}({', '.join(parts)}){arrow}"


def _named(call: Call) -> dict[str, Any]:
    try:
        bound = _inspect.signature(call.fn).bind(*call.args, **call.kwargs)
    except (TypeError, ValueError):
        named: dict[str, Any] = {str(i): arg for i, arg in enumerate(call.args)}
        return {**named, **call.kwargs}
    result: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is _inspect.Parameter.VAR_POSITIONAL:
            result.update({f"{name}[{i}]": v for i, v in enumerate(value)})
        elif kind is _inspect.Parameter.VAR_KEYWORD:
            result.update(value)
        else:
            result[name] = value
    return result
