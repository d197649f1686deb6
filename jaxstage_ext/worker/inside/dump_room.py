"""Whether there is room for what XLA dumps. On a full disk it goes on compiling and leaves files that are cut or empty.

Runs in the worker: stdlib alone.
"""

from __future__ import annotations

import contextlib
import errno
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from jaxstage_ext.worker.inside.log import LogTail

LEAST_FREE = 16_000_000
"""Bytes that must be free on the disk before, while and after XLA dumps."""
_PROBE = bytes(1 << 16)
_UNWRITTEN = re.compile(r"dump\.cc:\d+\] Could not write XLA (?:debug )?data to (\S+?):")
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DumpCut(OSError):
    """A dump of XLA's that is not whole, or could not be. `what` happened; the text also says what to do."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(
            f"{what}; make room on the disk of {_disk()}, or set TMPDIR to another folder and restart the kernel"
        )


def check_free(folder: Path) -> None:
    """Raise DumpCut unless the disk of a folder has room."""
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        raise DumpCut(f"XLA's dumps need {LEAST_FREE / 1e6:.0f} MB, and {_disk()} has {free / 1e6:.1f} MB free")


def check(folder: Path, log: LogTail | None = None) -> None:
    """Raise DumpCut where the disk of a folder is full, its quota is used up, or XLA logged that it could not write."""
    check_free(folder)
    probe = folder / f"probe-{secrets.token_hex(4)}"
    with written_whole():
        try:
            probe.write_bytes(_PROBE)
        finally:
            probe.unlink(missing_ok=True)
    if log is not None and (line := _UNWRITTEN.search(log.text())):
        raise DumpCut(f"XLA could not write its dump {Path(line[1]).name}")


@contextlib.contextmanager
def written_whole() -> Iterator[None]:
    """Raise DumpCut for a write in this block that fails because the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise DumpCut(f"a file could not be written ({error.strerror})") from None


def _disk() -> Path:
    """The temporary folder that this process's own folder is in."""
    return Path.cwd().parent
