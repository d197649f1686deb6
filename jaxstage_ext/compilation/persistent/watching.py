"""Watches JAX's persistent compilation cache: what it did for the compile that runs in this thread."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxstage_ext.compilation.persistent.outcomes import Observed
    from jaxstage_ext.compilation.records.compile_record import PersistentFacts

_REQUEST = "/jax/compilation_cache/compile_requests_use_cache"
_HIT = "/jax/compilation_cache/cache_hits"
_WRITE = "/jax/compilation_cache/cache_misses"
_SAVED = "/jax/compilation_cache/compile_time_saved_sec"
_READ = "/jax/compilation_cache/cache_retrieval_time_sec"


class _State(threading.local):
    """The compile that asks the cache in this thread."""

    observed: Observed | None = None


_state = _State()
_lock = threading.RLock()
_is_on = False
_outcomes: Any = None


def start() -> None:
    """Listen to the events of JAX's persistent cache. A second start does nothing.

    Where the listeners were removed with `jax.monitoring.clear_event_listeners`, it registers them once more.
    """
    global _is_on
    from jax import monitoring

    with _lock:
        _unregister()
        monitoring.register_event_listener(_on_event)
        monitoring.register_event_duration_secs_listener(_on_duration)
        _is_on = True
    with contextlib.suppress(Exception):
        from jaxstage_ext.compilation.persistent import flag_watch

        flag_watch.note()


def stop() -> None:
    """Stop listening."""
    global _is_on
    with _lock:
        if _is_on:
            _unregister()
        _is_on = False


def _unregister() -> None:
    from jax import monitoring

    with contextlib.suppress(AssertionError, ValueError):  # registered never, or removed by the user
        monitoring.unregister_event_listener(_on_event)
    with contextlib.suppress(AssertionError, ValueError):
        monitoring.unregister_event_duration_listener(_on_duration)


def take() -> PersistentFacts | None:
    """What the cache did for this thread's compile that ends now; None where it was not asked. The next has its own."""
    observed, _state.observed = _state.observed, None
    if observed is None:
        with contextlib.suppress(Exception):
            _loaded().without_request()
        return None
    try:
        made: PersistentFacts = _loaded().facts(observed)
        return made
    except Exception:  # the user's own compile must go on
        return None


def _on_event(event: str, **details: str | int) -> None:
    if event == _REQUEST:
        _state.observed = None
        with contextlib.suppress(Exception):
            _state.observed = _observed()
    elif event in (_HIT, _WRITE) and (observed := _state.observed) is not None:
        observed.was_hit |= event == _HIT
        observed.was_written |= event == _WRITE


def _on_duration(event: str, duration_secs: float, **details: str | int) -> None:
    if event in (_SAVED, _READ) and (observed := _state.observed) is not None:
        if event == _SAVED:
            observed.saved = duration_secs
        else:
            observed.read = duration_secs


def _observed() -> Any:
    observed = _loaded().observe()
    if observed is not None:
        observed.began = time.monotonic()
    return observed


def _loaded() -> Any:
    """What reads JAX's cache, which imports JAX; loaded at the first compile, when JAX is there."""
    global _outcomes
    if _outcomes is None:
        from jaxstage_ext.compilation.persistent import outcomes

        _outcomes = outcomes
    return _outcomes
