"""JAX's checks for NaN and infinities (`jax_debug_nans`, `jax_debug_infs`) of calls that stay in C++."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jax._src import api as _api

_hook: Any = getattr(_api, "_post_hook_state", None)


@contextlib.contextmanager
def kept_nan_checks() -> Iterator[None]:
    """After the block this thread's calls are checked as before it.

    A `with jax.debug_nans(...)` block sets the thread's own check when it ends, to none, and that hides the one that
    `jax.config.update` has set for all threads. JAX has such blocks in jnp.var, logsumexp, jaxpr_as_fun and others, so
    tracing alone would end the checks.
    """
    if _hook is None:
        yield
        return
    before = _hook.get_local()
    try:
        yield
    finally:
        _hook.set_local(before)
