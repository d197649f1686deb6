"""What an engine shares with the other processes of its job: executables, and what compile workers give."""

from __future__ import annotations

import os
from pathlib import Path

from jaxstage_ext.core import shared_executables
from jaxstage_ext.store import cache, maker

_EXECUTABLES, _ENTRIES = "executables", "cache"


class _Cache:
    is_of_job = False


def begin(folder: str, process: int, kept: tuple[str, int] | None) -> None:
    """Share from now on in folders that are there on this host; what a job before this one shared is left.

    Args:
      folder: the job's, which goes with it; it names the job on every host.
      process: the index of this process.
      kept: the folder of the kernel's inspection cache, and its bytes; None where it has none. An engine that has one
        of its own keeps that.
    """
    maker.join(folder, process)
    is_here = os.path.isdir(folder)
    shared_executables.share_in(_made(folder, _EXECUTABLES) if is_here else None)
    if cache.folder() is not None and not _Cache.is_of_job:
        return
    _Cache.is_of_job = True
    if kept is not None and os.path.isdir(kept[0]):
        cache.use_folder(*kept)
    else:
        cache.use_folder(_made(folder, _ENTRIES) if is_here else None, makes=False)


def _made(folder: str, name: str) -> Path | None:
    """None where the folder is not this user's, or there is no room."""
    path = Path(folder, name)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    return path
