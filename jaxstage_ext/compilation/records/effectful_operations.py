"""The operations that keep every call of a function off JAX's fast path: those with effects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxstage_ext.core.jax_private import jaxprs

_DEEPEST, _MOST = 20, 4


def effectful_operations(jaxpr: Any) -> tuple[str, ...]:
    """The names of the operations that a jaxpr's effects are of, such as `debug_print`, `io_callback`, `swap`.

    JAX dispatches a program with effects from Python at each call; `jax.pure_callback` has none.
    """
    if not jaxpr.effects:
        return ()
    names = dict.fromkeys(_operations(jaxpr, 0))
    return tuple(names)[:_MOST] or ("an operation",)


def _operations(jaxpr: Any, depth: int) -> Iterator[str]:
    """The innermost ones."""
    for eqn in jaxpr.eqns:
        if not eqn.effects:
            continue
        inner = jaxprs.inner_jaxprs(eqn) if depth < _DEEPEST else []
        deeper = [name for one in inner for name in _operations(one, depth + 1)]
        yield from deeper or [str(eqn.primitive.name)]
