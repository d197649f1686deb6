"""VLIW bundles of TPU programs, as libtpu dumps them: undocumented flags of its own, so an experimental extra."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

from jaxstage_ext.worker.inside import dump_room, whole_files
from jaxstage_ext.worker.inside.log import LogTail

_FINAL = re.compile(r"\d+-(?P<name>.+)-\d+-final_bundles\.txt")
_SWEEP = 0.05
"""Seconds between removals of what else libtpu writes: hundreds of files that are of no use here."""


@contextlib.contextmanager
def kept(folder: Path, log: LogTail) -> Iterator[list[tuple[str, bytes]]]:
    """A list that holds, when the block ends, (name, deflated final bundles) of what libtpu dumped into the folder.

    The name is that of an HLO instruction or, in "<>" or "TLP", of what surrounds them. Everything else that is
    dumped is removed while it is written. Raises DumpCut where there was no room for all of it.
    """
    folder.mkdir(exist_ok=True)
    dump_room.check(folder)
    final: list[tuple[str, bytes]] = []
    failed: list[dump_room.DumpCut] = []
    done = threading.Event()
    sweeper = threading.Thread(target=_sweep, args=(folder, done, failed), daemon=True)
    sweeper.start()
    try:
        yield final
    finally:
        done.set()
        sweeper.join()
    dump_room.check(folder, log)
    if failed:
        raise failed[0]
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if match := _FINAL.fullmatch(path.name):
            whole_files.check_lines(path)
            final.append((match["name"], zlib.compress(path.read_bytes(), 1)))
        path.unlink(missing_ok=True)


def _sweep(folder: Path, done: threading.Event, failed: list[dump_room.DumpCut]) -> None:
    while not done.wait(_SWEEP):
        try:
            dump_room.check_free(folder)
        except dump_room.DumpCut as cut:
            failed.append(cut)
            return
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                if not _FINAL.fullmatch(entry.name):
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)
