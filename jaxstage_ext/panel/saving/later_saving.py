"""A display that is published once more, a moment after a page has looked at something that it should save."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable

from jaxstage_ext.report.view_parts import Parts

QUIET = 1.0
"""Seconds without another reply."""


class LaterSaving:
    """Calls `publish`, in the context of the cell that made this, once the replies have paused."""

    def __init__(self, publish: Callable[[], object]) -> None:
        self._publish = publish
        self._context = contextvars.copy_context()  # it holds which cell the message belongs to
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def soon(self) -> None:
        """Publish after the pause; one that was waiting is put off."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(QUIET, self._context.copy().run, (self._now,))
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        """Publish nothing any more."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._publish = _nothing

    def _now(self) -> None:
        Parts().get("The saved report", self._publish, None)


def _nothing() -> None:
    pass
