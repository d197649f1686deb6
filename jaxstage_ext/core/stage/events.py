"""JAX's own monitoring events, collected while a stage runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.core.own_work import own_work
from jaxstage_ext.report.uninterrupted import surely, uninterrupted

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


@contextmanager
def hear() -> Iterator[Heard]:
    """Collect the events that this thread's JAX work, which is JAXStage's own, records inside the block.

    Each block has its own listeners: the user's `jax.monitoring.clear_event_listeners()` deafens those that are open
    and none that comes later.
    """
    from jax import monitoring

    from jaxstage_ext.core.jax_private.nonfinite_search import kept_nan_checks

    outer, heard = getattr(_local, "heard", None), Heard()

    def on_duration(event: str, duration_secs: float, **details: str | int) -> None:
        if getattr(_local, "heard", None) is heard:
            heard.durations[event] = duration_secs

    def on_event(event: str, **details: str | int) -> None:
        if event == _CACHE_HIT and getattr(_local, "heard", None) is heard:
            heard.cache_hits += 1

    def deafen() -> None:
        _local.heard = outer
        _remove(monitoring.unregister_event_duration_listener, on_duration)
        _remove(monitoring.unregister_event_listener, on_event)

    try:
        with uninterrupted():
            monitoring.register_event_duration_secs_listener(on_duration)
            monitoring.register_event_listener(on_event)
        _local.heard = heard
        with own_work(), kept_nan_checks():
            yield heard
    finally:
        surely(deafen)


def _remove(unregister: Callable[[Any], None], listener: Any) -> None:
    with suppress(AssertionError, ValueError):  # the user's own clear_event_listeners removed it
        unregister(listener)
