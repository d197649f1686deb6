"""What JAX tells our own stages: an interrupt leaves none of our listeners in JAX."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from interrupts import interrupt
from jax import monitoring
from jax._src import monitoring as listeners

from jaxstage_ext.core.stage.events import hear
from jaxstage_ext.report import uninterrupted


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


def test_an_interrupt_before_others_are_held_back_leaves_no_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [*listeners._event_duration_secs_listeners], [*listeners._event_listeners]
    held, begun = uninterrupted.uninterrupted, list[str]()

    @contextlib.contextmanager
    def late() -> Iterator[None]:
        begun.append("block")
        if len(begun) == 1:
            raise KeyboardInterrupt
        with held():
            yield

    monkeypatch.setattr(uninterrupted, "uninterrupted", late)  # as `surely` has it
    with pytest.raises(KeyboardInterrupt), hear():
        pass
    assert len(begun) == 2
    assert ([*listeners._event_duration_secs_listeners], [*listeners._event_listeners]) == before


def test_cleared_listeners_deafen_no_later_block_though_another_thread_is_still_in_one() -> None:
    """A stage that hears no event of JAX would take its compile for one that JAX had already."""
    before = [*listeners._event_duration_secs_listeners], [*listeners._event_listeners]
    is_in, may_end = threading.Event(), threading.Event()

    def stay() -> None:
        with hear():
            is_in.set()
            may_end.wait(60)

    other = threading.Thread(target=stay)
    other.start()
    try:
        assert is_in.wait(60)
        monitoring.clear_event_listeners()
        with hear() as heard:
            monitoring.record_event("/jax/compilation_cache/cache_hits")
            monitoring.record_event_duration_secs("/jax/core/compile/backend_compile_duration", 2.0)
    finally:
        may_end.set()
        other.join()
        for each in before[0]:
            monitoring.register_event_duration_secs_listener(each)
        for other_event in before[1]:
            monitoring.register_event_listener(other_event)
    assert (heard.cache_hits, heard.durations) == (1, {"/jax/core/compile/backend_compile_duration": 2.0})
    assert ([*listeners._event_duration_secs_listeners], [*listeners._event_listeners]) == before
