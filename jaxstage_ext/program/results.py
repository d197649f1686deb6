"""What was computed of one program: each thing once, whoever asks for it at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Value = TypeVar("Value")


class FactResults:
    """Values by what computed them. What raises is not kept: the next one who asks computes it anew."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, threading.RLock] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def known(self, key: Hashable) -> Any:
        """The value of that key; None where it was not computed yet. Never waits."""
        return self._values.get(key)

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a value that was computed elsewhere."""
        self._values[key] = value

    def once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of that key, computed if it is not known; several threads that ask wait for the first of them."""
        if key not in self._values:
            with self._lock:
                computing = self._locks.setdefault(key, threading.RLock())
            with computing:
                if key not in self._values:
                    self._values[key] = compute()
        value: Value = self._values[key]
        return value
