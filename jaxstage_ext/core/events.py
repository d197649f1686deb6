"""JAX's own monitoring events, collected while a stage runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.core.own_work import own_work
from jaxstage_ext.report.uninterrupted import uninterrupted

_CACHE_HIT = "/jax/compilation_cache/cache_hits"


@dataclass
class Heard:
    """Events of one thread: the last duration of each event in seconds, and the number of persistent-cache hits."""

    durations: dict[str, float] = field(default_factory=dict)
    cache_hits: int = 0

    def seconds(self, event: str | None) -> float | None:
        """JAX's time for the outermost work that records this event, which ends last; None when there was none."""
        return None if event is None else self.durations.get(event)


_local = threading.local()
_counting = threading.Lock()
_open = 0


@contextmanager
def hear() -> Iterator[Heard]:
    """Collect the events that this thread's JAX work, which is JAXStage's own, records inside the block."""
    from jaxstage_ext.core.jax_private.nan_checks import kept_nan_checks

    outer, heard, is_counted = getattr(_local, "heard", None), Heard(), False
    try:
        with uninterrupted():
            _count(1)
            is_counted = True
        _local.heard = heard
        with own_work(), kept_nan_checks():
            yield heard
    finally:
        with uninterrupted():
            _local.heard = outer
            if is_counted:
                _count(-1)


def _count(change: int) -> None:
    """JAX has the listeners as long as a thread is in such a block."""
    global _open
    from jax import monitoring

    with _counting:
        if not _open:
            monitoring.register_event_duration_secs_listener(_on_duration)
            monitoring.register_event_listener(_on_event)
        _open += change
        if not _open:
            _remove(monitoring.unregister_event_duration_listener, _on_duration)
            _remove(monitoring.unregister_event_listener, _on_event)


def _remove(unregister: Callable[[Any], None], listener: Any) -> None:
    with suppress(AssertionError, ValueError):  # the user's own clear_event_listeners removed it
        unregister(listener)


def _on_duration(event: str, duration_secs: float, **details: str | int) -> None:
    heard = getattr(_local, "heard", None)
    if heard is not None:
        heard.durations[event] = duration_secs


def _on_event(event: str, **details: str | int) -> None:
    heard = getattr(_local, "heard", None)
    if heard is not None and event == _CACHE_HIT:
        heard.cache_hits += 1
