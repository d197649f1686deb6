"""When JAX traced, lowered and compiled during a capture, by JAX's own monitoring events."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_EVENTS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_MOST = 100_000


@dataclass(frozen=True)
class CompileTime:
    """One stage of one compile: "trace", "lower" or "compile", the function, Unix time of its start and end in ns."""

    stage: str
    function: str
    start: int
    end: int


@contextlib.contextmanager
def compile_times() -> Iterator[list[CompileTime]]:
    """Collect what all threads compile in the block, in the order in which it ends; no more than 100,000 of them."""
    from jax import monitoring

    times: list[CompileTime] = []

    def listen(event: str, duration_secs: float, **details: Any) -> None:
        stage = _EVENTS.get(event)
        if stage is not None and len(times) < _MOST:
            end = time.time_ns()
            times.append(CompileTime(stage, str(details.get("fun_name", "")), end - round(duration_secs * 1e9), end))

    monitoring.register_event_duration_secs_listener(listen)
    try:
        yield times
    finally:
        _remove(monitoring.unregister_event_duration_listener, listen)


def _remove(unregister: Callable[[Any], None], listener: Any) -> None:
    with contextlib.suppress(AssertionError, ValueError):  # the user's own clear_event_listeners removed it
        unregister(listener)
