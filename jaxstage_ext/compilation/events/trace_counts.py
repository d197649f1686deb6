"""Whether a trace was one, or was found in JAX's cache, which raises the same event."""

from __future__ import annotations

import threading

from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.core.jax_private import compile_context

_lock = threading.RLock()
_calls_seen = 0


class _Traces:
    """How many traces began and ended, and how many of them in this thread."""

    def __init__(self) -> None:
        self.begun, self.ended = 0, 0


_all = _Traces()


class _Own(threading.local, _Traces):
    pass


_own = _Own()

Before = tuple[int | None, bool, int]
"""JAX's count of traces, whether another thread traced just then, and how many traces other threads had begun."""


def trace_begins() -> Before:
    """The counts at a trace's start."""
    with _lock:
        _watch_clears()
        others = _all.begun - _own.begun
        busy = others > _all.ended - _own.ended
        _all.begun += 1
        _own.begun += 1
    return compile_context.trace_misses(), busy, others


def trace_ends(before: Before | None) -> bool | None:
    """Whether the trace that ends was found in the cache; None where traces of other threads hide it."""
    misses = compile_context.trace_misses()
    with _lock:
        _all.ended += 1
        _own.ended += 1
        others = _all.begun - _own.begun
    if before is None or before[0] is None or misses is None:
        return None
    if misses == before[0]:
        return True
    return None if before[1] or others != before[2] else False


def caches_cleared() -> None:
    """JAX has cleared its caches."""
    global _calls_seen
    with _lock:
        LOG.clears += 1
        _calls_seen = 0


def _watch_clears() -> None:
    """Each trace begins with a call that JAX counts; fewer calls than before tell that one function's were cleared."""
    global _calls_seen
    seen = compile_context.calls()
    if seen is None:
        return
    if seen <= _calls_seen:
        LOG.clears += 1
    _calls_seen = seen
