"""VLIW bundles of TPU programs, as libtpu dumps them: undocumented flags of its own, so an experimental extra."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

_FINAL = re.compile(r"\d+-(?P<name>.+)-\d+-final_bundles\.txt")
_SWEEP = 0.05
"""Seconds between removals of what else libtpu writes: hundreds of files that are of no use here."""


@contextlib.contextmanager
def kept(folder: Path) -> Iterator[list[tuple[str, bytes]]]:
    """A list that holds, when the block ends, (name, deflated final bundles) of what libtpu dumped into the folder.

    The name is that of an HLO instruction or, in "<>" or "TLP", of what surrounds them. Everything else that is
    dumped is removed while it is written.
    """
    folder.mkdir(exist_ok=True)
    final: list[tuple[str, bytes]] = []
    done = threading.Event()
    sweeper = threading.Thread(target=_sweep, args=(folder, done), daemon=True)
    sweeper.start()
    try:
        yield final
    finally:
        done.set()
        sweeper.join()
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if match := _FINAL.fullmatch(path.name):
            final.append((match["name"], zlib.compress(path.read_bytes(), 1)))
        path.unlink(missing_ok=True)


def _sweep(folder: Path, done: threading.Event) -> None:
    while not done.wait(_SWEEP):
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                if not _FINAL.fullmatch(entry.name):
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)
