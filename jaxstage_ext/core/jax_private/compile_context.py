"""The state of JAX that decides whether it traces and compiles again: its configuration, its caches, their clearing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax._src import config as _config
from jax._src import pjit as _pjit
from jax._src import util as _util
from jax._src.interpreters import partial_eval as _pe


def context() -> tuple[Any, ...]:
    """The values of this thread's configuration that JAX's caches are keyed by."""
    values: tuple[Any, ...] = _config.trace_context()
    return values


def names() -> tuple[str, ...]:
    """The names of the values of `context()`; empty where this JAX does not give them."""
    given: Callable[[], tuple[str, ...]] = getattr(_config, "trace_context_names", tuple)
    return tuple(given())


def trace_misses() -> int | None:
    """How many functions JAX has traced since its caches were cleared; None where it does not tell."""
    try:
        return int(_pe.trace_to_jaxpr.cache_info().misses)
    except Exception:
        return None


def calls() -> int | None:
    """How many calls JAX's Python path has taken since its caches, or those of any one function, were cleared."""
    try:
        info = _pjit._infer_params_cached.cache_info()
        return int(info.hits) + int(info.misses)
    except Exception:
        return None


class CachesClear:
    """Is asked to clear itself whenever `jax.clear_caches()` clears JAX's caches."""

    def __init__(self, on_clear: Callable[[], None]) -> None:
        self._on_clear = on_clear

    def cache_clear(self) -> None:
        self._on_clear()

    def begin(self) -> None:
        """Be one of JAX's caches. JAX holds it weakly."""
        _util.register_cache(self, "jaxstage_ext")

    def end(self) -> None:
        """Be one of them no more."""
        _util._caches.pop(self, None)
