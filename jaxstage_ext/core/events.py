"""JAX's own events, heard for the time of one stage."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import jax

DURATIONS = {
    "trace": "/jax/core/compile/jaxpr_trace_duration",
    "lower": "/jax/core/compile/jaxpr_to_mlir_module_duration",
    "compile": "/jax/core/compile/backend_compile_duration",
}
_CACHE_HIT = "/jax/compilation_cache/cache_hits"


@dataclass
class Heard:
    """Events of one thread: (event, seconds, function) in order, and persistent-cache hits."""

    durations: list[tuple[str, float, str]] = field(default_factory=list)
    cache_hits: int = 0

    def seconds(self, stage: str) -> float | None:
        """JAX's time for the outermost work of a stage; None when JAX did none."""
        event = DURATIONS[stage]
        return next((seconds for name, seconds, _ in reversed(self.durations) if name == event), None)


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
    """JAX's listeners cannot be removed by public means on every version, so there is one, for good."""
    global _registered
    with _registering:
        if not _registered:
            jax.monitoring.register_event_duration_secs_listener(_on_duration)
            jax.monitoring.register_event_listener(_on_event)
            _registered = True


def _on_duration(event: str, duration_secs: float, **details: str | int) -> None:
    heard = getattr(_local, "heard", None)
    if heard is not None and event in DURATIONS.values():
        heard.durations.append((event, duration_secs, str(details.get("fun_name", ""))))


def _on_event(event: str, **details: str | int) -> None:
    heard = getattr(_local, "heard", None)
    if heard is not None and event == _CACHE_HIT:
        heard.cache_hits += 1
