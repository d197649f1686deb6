"""A call of `jax.vmap` of a function as a call of `jax.lax.map` in batches, which computes fewer elements at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import tracing

_VMAP, _BOUNDARY = "vmap.<locals>.vmap_f", "reraise_with_filtered_traceback"
"""The function that `jax.vmap` gives, and what JAX puts around it; they close over what they were given."""


def mapped(call: Call, batch: int) -> Call | None:
    """The call with batches of elements one after the other; None where it is not `jax.vmap` over first axes alone."""
    options = _options(call.fn)
    if options is None or call.kwargs or options["in_axes"] != 0 or options["out_axes"] != 0:
        return None
    function: Callable[..., Any] = options["fun"]

    def in_batches(*given: Any) -> Any:
        return jax.lax.map(lambda one: function(*one), given, batch_size=batch)

    made = jax.jit(in_batches, **tracing.jit_options(call.fn))
    return Call(made, call.args, call.kwargs, call.name, cell=call.cell, texts=call.texts)


def _options(fn: Any) -> dict[str, Any] | None:
    inner = fn
    while inner is not None:
        code = getattr(inner, "__code__", None)
        held = _held(inner) if code is not None else {}
        if getattr(code, "co_qualname", "") == _VMAP:
            return held
        inner = (
            held.get("fun") if code is not None and code.co_name == _BOUNDARY else getattr(inner, "__wrapped__", None)
        )
    return None


def _held(function: Any) -> dict[str, Any]:
    """What a function closes over, by name."""
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    return dict(zip(function.__code__.co_freevars, cells, strict=True))
