"""The claim of an entry in a folder that processes share: a file that its owner holds locked.

The system unlocks it when the owner ends, however that ends. A child that the owner has forked may keep it locked: that
the owner has ended is then read from the file, which names its process.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import socket
import stat
import time

from jaxstage_ext.store import maker

ABANDONED = 3600.0
"""Seconds after which nobody waits for a claim any more."""
_CLAIM = re.compile(r"[0-9a-f]{64}\.claim")
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_HELD = (errno.EWOULDBLOCK, errno.EACCES)
_OWNER_BYTES = 4096


class FileClaim:
    """One process's view of the claim of an entry."""

    def __init__(self, folder: int, key: str) -> None:
        """`folder` is a descriptor, which is closed with the claim."""
        self._folder, self._name, self._pid = folder, f"{key}.claim", os.getpid()
        self._file: int | None = None

    def is_held_elsewhere(self) -> bool:
        """Whether another has it, and has had it since the first look.

        If not, it is ours because nobody has it or its owner has died; or its owner has given it up, and has either
        made the entry or failed to; or there can be none: no room, no locks, no right to write.
        """
        try:
            return self._is_held()
        except OSError:
            self._remove()
            return False

    def release(self) -> None:
        """Give up what is ours, which lets the others in, and close what is open. Twice is once."""
        if self._pid != os.getpid():  # a fork of it
            return
        with contextlib.suppress(OSError):
            if self._file is not None and self._is_named(self._file) and self._is_locked(self._file):
                self._remove()
        self._close_file()
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    __del__ = release

    def _is_held(self) -> bool:
        if self._file is None:
            self._file = os.open(self._name, _FLAGS, 0o600, dir_fd=self._folder)
        if not self._is_named(self._file):
            return False
        if not self._is_locked(self._file):
            if _has_ended(_owner_in(self._file)):
                self._remove()
            return True
        if self._is_named(self._file):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, json.dumps(_this_process()).encode(), 0)
        return False

    @staticmethod
    def _is_locked(file: int) -> bool:
        """Whether a file is locked by us now. Raises OSError where there are no locks."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD:
                return False
            raise
        return True

    def _is_named(self, file: int) -> bool:
        try:
            named = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(named, os.fstat(file))

    def _remove(self) -> None:
        """Remove the file that has the name; who looks next makes another."""
        with contextlib.suppress(OSError):
            os.unlink(self._name, dir_fd=self._folder)
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # a child that was forked meanwhile has it open too
                if self._is_locked(self._file):
                    fcntl.flock(self._file, fcntl.LOCK_UN)
            os.close(self._file)
            self._file = None


def is_abandoned(name: str, status: os.stat_result) -> bool:
    """Whether a file of this name is a claim that nobody waits for any more."""
    is_claim = bool(_CLAIM.fullmatch(name)) and stat.S_ISREG(status.st_mode)
    return is_claim and status.st_mtime < time.time() - ABANDONED


def _this_process() -> dict[str, object]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "process": maker.me().process}


def _owner_in(file: int) -> object:
    try:
        return json.loads(os.pread(file, _OWNER_BYTES, 0))
    except (OSError, ValueError, RecursionError):
        return None


def _has_ended(owner: object) -> bool:
    """Whether it is known that the process that wrote itself into a claim has ended."""
    if not isinstance(owner, dict) or owner.get("host") != socket.gethostname():
        return False
    pid = owner.get("pid")
    if type(pid) is not int or not 0 < pid < 1 << 31 or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
