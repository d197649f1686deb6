"""Starts and stops the compile log: from then on JAX's monitoring events are heard."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.core import first_import

if TYPE_CHECKING:
    from jaxstage_ext.core.jax_private.compile_context import CachesClear

_COMPILE_EVENTS = "/jax/core/compile/"
_MONITORING = "jax.monitoring"
_lock = threading.RLock()
_is_on = False
_events: Any = None
_clear: CachesClear | None = None


def start() -> None:
    """Listen to JAX's events, at once where JAX is imported, else as soon as it is. A second start does nothing."""
    global _is_on
    with _lock:
        if _is_on:
            return
        _is_on = True
        if _MONITORING in sys.modules:
            _register()
            if _events is not None:
                _hear_clears()
        else:
            first_import.after_import(_MONITORING, _register_quietly)


def stop() -> None:
    """Stop listening; what was recorded stays."""
    global _is_on, _clear
    with _lock:
        if not _is_on:
            return
        _is_on = False
        first_import.forget(_MONITORING)
        if _MONITORING in sys.modules:
            _unregister()
        if _clear is not None:
            _clear.end()
            _clear = None


def is_on() -> bool:
    """Whether the log is kept."""
    return _is_on


def renew() -> None:
    """Between cells: listen again where `jax.monitoring.clear_event_listeners()` has ended it."""
    if not _is_on or _events is None:
        return
    with contextlib.suppress(Exception):
        _events.forget_running()
        _hear_again()


def _register_quietly() -> None:
    try:
        _register()
    except Exception as error:
        LOG.fault(error)


def _register() -> None:
    from jax import monitoring

    from jaxstage_ext.compilation.persistent import watching

    monitoring.register_scalar_listener(_on_scalar)
    monitoring.register_event_duration_secs_listener(_on_duration)
    watching.start()


def _unregister() -> None:
    from jax import monitoring

    from jaxstage_ext.compilation.persistent import watching

    with contextlib.suppress(AssertionError, ValueError):  # the user has removed it
        monitoring.unregister_scalar_listener(_on_scalar)
    with contextlib.suppress(AssertionError, ValueError):
        monitoring.unregister_event_duration_listener(_on_duration)
    watching.stop()


def _hear_again() -> None:
    """Register what `clear_event_listeners` has removed; it leaves the listeners of scalars."""
    if _events.hears(_on_scalar, _on_duration):
        return
    from jax import monitoring

    from jaxstage_ext.compilation.persistent import watching
    from jaxstage_ext.core.jax_private import monitoring_listeners

    if not monitoring_listeners.hears_durations(_on_duration):
        monitoring.register_event_duration_secs_listener(_on_duration)
        watching.start()
    if not monitoring_listeners.hears_scalars(_on_scalar):
        monitoring.register_scalar_listener(_on_scalar)


def _loaded() -> ModuleType:
    """What makes records, which imports JAX; loaded at the first event, when JAX is there."""
    global _events
    if _events is None:
        try:
            with _lock:
                from jaxstage_ext.compilation.events import stage_events

                _events = stage_events
                _hear_clears()
        except Exception:
            stop()  # a JAX that we do not know, and asking at each event would cost each time
            raise
    events: ModuleType = _events
    return events


def _hear_clears() -> None:
    """Hear `jax.clear_caches()`."""
    global _clear
    from jaxstage_ext.core.jax_private.compile_context import CachesClear

    if _is_on and _clear is None:
        _clear = CachesClear(_on_clear)
        _clear.begin()


def _on_clear() -> None:
    """JAX clears its caches, in the user's call."""
    try:
        _events.caches_cleared()
    except Exception as error:
        LOG.fault(error)


def _on_scalar(event: str, value: float, **details: Any) -> None:
    """JAX tells that a stage begins. Nothing but an interrupt is raised into the user's call."""
    if not event.startswith(_COMPILE_EVENTS):
        return
    entered = time.perf_counter()
    try:
        events = _events or _loaded()
        _hear_again()
        events.begin(event, value, str.__str__(details.get("fun_name", "")), sys._getframe(1), entered)
    except Exception as error:
        LOG.fault(error)


def _on_duration(event: str, duration_secs: float, **details: Any) -> None:
    """JAX tells that a stage has ended. Nothing but an interrupt is raised into the user's call."""
    if not event.startswith(_COMPILE_EVENTS):
        return
    entered = time.perf_counter()
    try:
        if _events is not None:
            _events.end(event, duration_secs, sys._getframe(1), entered)
    except Exception as error:
        LOG.fault(error)


_block_lock = threading.Lock()
_open = 0
_began_here = False


@contextmanager
def listening_block() -> Iterator[bool]:
    """Keep the log as long as a thread is in such a block; one that was kept before goes on afterwards.

    Yields:
      Whether the log was kept before.
    """
    was_on = _enter()
    try:
        yield was_on
    finally:
        _leave()


def _enter() -> bool:
    global _open, _began_here
    with _block_lock:
        was_on = listening.is_on()
        if not _open:
            _began_here = not was_on
            listening.start()
        _open += 1
        return was_on


def _leave() -> None:
    global _open
    with _block_lock:
        _open -= 1
        if not _open and _began_here:
            listening.stop()
