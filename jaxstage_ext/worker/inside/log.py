"""The log of this process: a file in its working directory that its standard error goes to."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


class LogTail:
    """What is written to the log after this object is made; empty where standard error goes elsewhere."""

    def __init__(self, log: Path) -> None:
        self._log = log
        try:
            self._start = os.lseek(2, 0, os.SEEK_CUR)
        except OSError:
            self._start = -1

    def text(self) -> str:
        if self._start < 0:
            return ""
        with contextlib.suppress(OSError), open(self._log, "rb") as file:
            if os.path.samestat(os.fstat(file.fileno()), os.fstat(2)):
                file.seek(self._start)
                return file.read().decode("utf-8", "replace")
        return ""

    def remove(self) -> None:
        """Cut the log back to what it was."""
        with contextlib.suppress(OSError):
            if self._start >= 0:
                os.ftruncate(2, self._start)
                os.lseek(2, self._start, os.SEEK_SET)
