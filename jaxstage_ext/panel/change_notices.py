"""Who is to be told when the list of inspections changes: a panel opens or closes, a stage begins or ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

_listeners: list[Callable[[], object]] = []


def listen(listener: Callable[[], object]) -> Callable[[], None]:
    """Call the listener at every change. Returns what ends that."""
    _listeners.append(listener)

    def end() -> None:
        with contextlib.suppress(ValueError):
            _listeners.remove(listener)

    return end


def changed() -> None:
    """Tell every listener; one that fails does not keep the others from hearing of it."""
    for listener in list(_listeners):
        with contextlib.suppress(Exception):
            listener()
