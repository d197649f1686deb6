"""One thread that ends the run where a test takes longer than its timeout; pytest-timeout starts one for each test."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from pytest_timeout import timeout_timer

INTERVAL = 1.0
"""Seconds between two looks."""


class TimeLimits:
    """The plugin: the test under way and when it must have ended."""

    def __init__(self) -> None:
        self._under_way: tuple[float, pytest.Item, Any] | None = None
        self._thread: threading.Thread | None = None

    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> bool | None:
        if settings.method != "thread":
            return None
        self._under_way = time.monotonic() + settings.timeout, item, settings
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="time limits of tests", daemon=True)
            self._thread.start()
        return True

    def pytest_timeout_cancel_timer(self) -> None:
        self._under_way = None

    def _look(self) -> None:
        while True:
            time.sleep(INTERVAL)
            under_way = self._under_way
            if under_way is not None and time.monotonic() > under_way[0]:
                timeout_timer(*under_way[1:])
