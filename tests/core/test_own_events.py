"""What JAX tells our own stages: an interrupt leaves none of our listeners in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from interrupts import interrupt
from jax import monitoring
from jax._src import monitoring as listeners

from jaxstage_ext.core.events import hear


@pytest.mark.parametrize("name", ["register_event_listener", "unregister_event_duration_listener"])
def test_an_interrupt_as_listening_begins_or_ends_leaves_no_listener(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = [*listeners._event_duration_secs_listeners], [*listeners._event_listeners]
    change: Callable[[Any], None] = getattr(monitoring, name)

    def interrupted(listener: Any) -> None:
        interrupt()
        change(listener)

    monkeypatch.setattr(monitoring, name, interrupted)
    with pytest.raises(KeyboardInterrupt), hear():
        pass
    assert ([*listeners._event_duration_secs_listeners], [*listeners._event_listeners]) == before
