"""JAX's own monitoring events, collected while a stage runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

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
_registering = threading.Lock()
_registered = False


@contextmanager
def hear() -> Iterator[Heard]:
    """Collect the events that this thread's JAX work records inside the block."""
    _register()
    outer = getattr(_local, "heard", None)
    _local.heard = heard = Heard()
    try:
        yield heard
    finally:
        _local.heard = outer


def _register() -> None:
    """Register the listeners, once: not every version of JAX has public means to remove them."""
    global _registered
    import jax

    with _registering:
        if not _registered:
            jax.monitoring.register_event_duration_secs_listener(_on_duration)
            jax.monitoring.register_event_listener(_on_event)
            _registered = True


def _on_duration(event: str, duration_secs: float, **details: str | int) -> None:
    heard = getattr(_local, "heard", None)
    if heard is not None:
        heard.durations[event] = duration_secs


def _on_event(event: str, **details: str | int) -> None:
    heard = getattr(_local, "heard", None)
    if heard is not None and event == _CACHE_HIT:
        heard.cache_hits += 1
