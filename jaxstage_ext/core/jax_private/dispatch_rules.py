"""What keeps calls of a jitted function off the C++ fast path: `pjit._get_fastpath_data` of jax 0.10.2 to 0.12.0.1."""

from __future__ import annotations

from typing import Any

import jax
from jax._src.interpreters import pxla as _pxla
from jax._src.state.types import RefEffect as _RefEffect

_pxla_any: Any = _pxla  # untyped


def slow_causes(compiled: Any, effects: Any) -> list[str]:
    """Why every call goes through Python, in words; none where calls after the first stay in C++."""
    executable = compiled._executable
    run = getattr(executable, "unsafe_call", None)
    if not isinstance(executable, _pxla_any.MeshExecutable) or not isinstance(run, _pxla_any.ExecuteReplicated):
        return ["JAX runs it in a way of its own"]
    causes = []
    if run.ordered_effects:
        causes.append("it has ordered effects, whose tokens Python threads through")
    if run.has_unordered_effects:
        causes.append("it has callbacks, such as jax.debug.print")
    if any(isinstance(effect, _RefEffect) for effect in effects):
        causes.append("it changes mutable arrays (jax.Ref)")
    if jax.config.jax_no_execution:
        causes.append("jax_no_execution is on")
    return causes


def is_jitted(fn: Any) -> bool:
    """Whether it is what `jax.jit` itself gives."""
    return type(fn).__name__ == "PjitFunction"
