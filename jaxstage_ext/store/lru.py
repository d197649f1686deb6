"""A dictionary that forgets: bounded by size and by number, the entry that was used longest ago goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Lru(Generic[Value]):
    """Values by key, each with its size. May be used from several threads.

    Attributes:
      limit: the sum of sizes up to which entries are kept; a larger entry is not kept at all.
      most: how many are kept.
    """

    def __init__(self, limit: int, most: int = 1 << 20) -> None:
        self.limit, self.most = limit, most
        self.size = 0
        self._entries: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Value | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: str, value: Value, size: int) -> None:
        with self._lock:
            self._drop(key)
            if size > self.limit:
                return
            self._entries[key] = value, size
            self.size += size
            while self.size > self.limit or len(self._entries) > self.most:
                self._drop(next(iter(self._entries)))

    def remove(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def resize(self, limit: int) -> None:
        """Another limit; what is beyond it goes at once."""
        with self._lock:
            self.limit = limit
            while self.size > limit:
                self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def _drop(self, key: str) -> None:
        if key in self._entries:
            self.size -= self._entries.pop(key)[1]
