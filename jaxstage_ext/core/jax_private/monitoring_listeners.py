"""Whom JAX's monitoring events are told to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax._src import monitoring as _monitoring


def hears_durations(listener: Callable[..., Any]) -> bool:
    """Whether a listener is registered for durations."""
    return any(each is listener for each in _monitoring._event_duration_secs_listeners)


def hears_scalars(listener: Callable[..., Any]) -> bool:
    """Whether a listener is registered for scalars."""
    return any(each is listener for each in _monitoring._scalar_listeners)
