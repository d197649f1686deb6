"""Who makes an entry that several want at once: one claims it and makes it, the others wait and then find it.

The threads of a process claim in memory, processes that share a folder by a locked file there. A folder that cannot be
written to, or whose file system has no locks, keeps no processes apart: each makes its own, as without claims. Two
owners at once do no harm, since entries of one key are equal.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from jaxstage_ext.store import trusted_folder
from jaxstage_ext.store.file_claim import FileClaim

Value = TypeVar("Value")
Waiting = Callable[[float], object]
"""Called now and then with the seconds that were waited so far; what it raises ends the wait."""

PATIENCE = 600.0
"""Seconds that another may take to make an entry; after them whoever waits makes it too."""
_PAUSES = 0.01, 0.1
"""Seconds between two looks at a claim: the first, and the longest."""


class _Own:
    """The claims of this process: by key whoever holds it; and whether a thread holds one."""

    def __init__(self) -> None:
        self.owners: dict[str, object] = {}
        self.thread = threading.local()


_own = _Own()


@contextlib.contextmanager
def claimed(
    key: str, folder: Path | None, waiting: Waiting | None = None, patience: float = PATIENCE
) -> Iterator[None]:
    """In the block this thread makes the entry of a key, and nobody else does who claims it.

    Whoever enters looks the entry up once more: another may have made it. Where that failed all who waited enter at
    once, as without claims; where its process died, one of them does. A thread that holds one claim enters the next at
    once, so that nobody ever waits for somebody who waits. Interrupts take effect at once.

    Args:
      key: of the entry.
      folder: where processes claim it, if it is there; None for this process alone.
      waiting: called while another makes it.
      patience: seconds after which the block is entered although another holds the claim.
    """
    thread = _own.thread
    if getattr(thread, "holds_one", False):
        yield
        return
    clock = _Clock(patience, waiting)
    with _among_threads(key, clock), _among_processes(key, folder, clock):
        try:
            thread.holds_one = True
            yield
        finally:
            thread.holds_one = False


def once(
    key: str,
    folder: Callable[[], Path | None],
    find: Callable[[], Value | None],
    make: Callable[[], Value],
    waiting: Waiting | None = None,
    patience: float = PATIENCE,
) -> tuple[Value, bool]:
    """What `find` finds, else what `make` makes while it is claimed; and whether it was found.

    Args:
      key: of the entry that `make` stores and `find` looks for.
      folder: gives that of `claimed`, once there is something to make.
      find: gives None where there is none.
      make: what it raises is raised.
      waiting: of `claimed`.
      patience: of `claimed`, seconds.
    """
    if (found := find()) is not None:
        return found, True
    with claimed(key, folder(), waiting, patience):
        if (found := find()) is not None:
            return found, True
        return make(), False


class _Clock:
    def __init__(self, patience: float, waiting: Waiting | None) -> None:
        self._began, self._patience, self._waiting = time.monotonic(), patience, waiting
        self._pause = _PAUSES[0]

    def has_waited(self) -> bool:
        """Wait a moment. False, at once, where there is no patience left."""
        gone = time.monotonic() - self._began
        if gone >= self._patience:
            return False
        if self._waiting is not None:
            self._waiting(gone)
        self._pause = min(1.5 * self._pause, _PAUSES[1])
        time.sleep(self._pause)
        return True


@contextlib.contextmanager
def _among_threads(key: str, clock: _Clock) -> Iterator[None]:
    owners, own = _own.owners, object()
    try:
        first = owners.setdefault(key, own)
        while first is not own and owners.get(key) is first and clock.has_waited():
            pass
        yield
    finally:
        if owners.get(key) is own:
            del owners[key]


@contextlib.contextmanager
def _among_processes(key: str, folder: Path | None, clock: _Clock) -> Iterator[None]:
    claim = _opened(folder, key) if folder is not None else None
    try:
        while claim is not None and claim.is_held_elsewhere() and clock.has_waited():
            pass
        yield
    finally:
        if claim is not None:
            claim.release()


def _opened(folder: Path, key: str) -> FileClaim | None:
    with contextlib.suppress(OSError, ValueError), trusted_folder.opened(folder) as place:
        return FileClaim(os.dup(place), key)
    return None


def _forget() -> None:
    """In a forked child the claims are the parent's."""
    global _own
    _own = _Own()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
