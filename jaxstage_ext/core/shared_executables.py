"""Executables that the processes of a job share: one compiles a program of several, the others read what it made.

XLA serialises them with their machine code. They lie in a folder of the job that this user alone may write to and that
goes with the job; the inspection cache, which lasts and is read as data, has none. On CPUs alone: elsewhere XLA's
processes may tune a program together, so that each must compile it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from jaxstage_ext.core.cell_folders import CellFolder
from jaxstage_ext.core.executable_sharing import Sharing
from jaxstage_ext.core.jax_private import persistent_cache
from jaxstage_ext.core.jax_private.compile_watch import BackendCompile, leave_out
from jaxstage_ext.store import cache, claims, entry, maker
from jaxstage_ext.store.disk import Disk
from jaxstage_ext.worker.compile_environment import current

PLATFORMS = ("cpu",)
LIMIT = 1_000_000_000
"""Bytes of a job's executables; those used longest ago go first."""


@dataclass(frozen=True)
class SharedExecutable:
    """An executable of several processes.

    Attributes:
      key: of what was compiled.
      seconds: that XLA took for it, in the process that compiled it.
      sharing: whether this process compiled it.
      process: the index of the process that did; None of this process itself.
      read_seconds: that reading it took here; None where nothing was read.
    """

    key: str
    seconds: float
    executable: Any = field(repr=False)
    sharing: Sharing
    process: int | None = None
    read_seconds: float | None = None

    @property
    def took(self) -> float:
        """Seconds that this process took to compile or to read it, without waiting for another and writing it."""
        return self.seconds if self.read_seconds is None else self.read_seconds


class _Job:
    disk: Disk | None = None


def share_in(folder: Path | None) -> None:
    """Share executables in a folder that is there, of this host; None: no more."""
    _Job.disk = Disk(folder, LIMIT, makes=False) if folder is not None else None


def why_not(what: BackendCompile) -> Sharing | None:
    """Why an executable of several processes is not shared; None where it is."""
    if _Job.disk is None or not _Job.disk.folder.is_dir():
        return Sharing.NO_FOLDER
    if what.client.platform not in PLATFORMS:
        return Sharing.PLATFORM
    return Sharing.PERSISTENT if persistent_cache.next_folder() else None


def compiled(what: BackendCompile, compile_: Callable[[], Any]) -> SharedExecutable:
    """The executable of another process of the job, else that of `compile_`, which the others then read.

    What `why_not` refuses is not asked for here. A process that is killed while it compiles is replaced by the next.
    """
    disk, cells = _Job.disk, CellFolder.of(what.parts[0])
    assert disk is not None
    key = cache.key("executable", *_surroundings(what), cells.anonymous(what.parts[0]), *what.parts[1:])

    def make() -> SharedExecutable:
        started = time.perf_counter()
        executable = compile_()
        seconds = time.perf_counter() - started
        is_kept = _kept(disk, key, what, executable, seconds, cells)
        return SharedExecutable(key, seconds, executable, Sharing.COMPILED if is_kept else Sharing.UNSHARED)

    began = time.perf_counter()
    made, _ = claims.once(key, lambda: disk.folder, lambda: _read(disk, key, what, cells), make)
    leave_out(time.perf_counter() - began - made.took)
    return made


def _surroundings(what: BackendCompile) -> tuple[str, ...]:
    """What decides beside program and options. Another host may have other processors."""
    return (socket.gethostname(), what.client.platform, what.client.platform_version, *current().parts)


def _kept(disk: Disk, key: str, what: BackendCompile, executable: Any, seconds: float, cells: CellFolder) -> bool:
    try:
        data = cells.anonymous(what.serialized(executable))
        disk.put(key, entry.pack(key, {"seconds": seconds}, [data]))
    except Exception:  # whatever the backend or the file system refuses
        return False
    return len(data) < disk.limit


def _read(disk: Disk, key: str, what: BackendCompile, cells: CellFolder) -> SharedExecutable | None:
    """What `_kept` keeps; None where there is none, or it is not whole."""
    started = time.perf_counter()
    try:
        if (data := disk.get(key)) is None:
            return None
        head, [part] = entry.unpack(key, data)
        made, seconds = entry.maker_of(key, data), head["seconds"]
        if head.keys() != {"seconds"} or type(seconds) is not float or not 0 <= seconds < inf:
            raise ValueError("not the head of an executable")
        executable = what.loaded(cells.ours(part))
    except Exception:  # it is compiled anew then
        with contextlib.suppress(OSError, ValueError):
            disk.remove(key)
        return None
    is_own = made.run == maker.me().run
    process = None if is_own else made.of_job
    took = time.perf_counter() - started
    return SharedExecutable(key, seconds, executable, Sharing.COMPILED if is_own else Sharing.READ, process, took)


def _forget() -> None:
    """A forked child is no process of the job."""
    _Job.disk = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
