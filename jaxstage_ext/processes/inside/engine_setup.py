"""What is set up in each engine of a job, so that the kernel can see where it is when it does not answer."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from typing import Any

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.ir.sources import run_cells
from jaxstage_ext.processes.inside import engine_journal, engine_sharing, joining, stack_teller

ENGINES = "engine's "
"""What stands before "In [5]" of cells that an engine counts itself, since the notebook did not say which they are."""


class _Stacks:
    folder = ""


def prepare(folder: str, kept: tuple[str, int] | None = None) -> dict[str, Any]:
    """Write where the main thread is to a file when asked; begin the journal and the compile log; share compiles.

    Once is enough.

    Args:
      folder: where the files are to be, if it is there on this host; else they have a folder of their own, which goes
        when this process exits.
      kept: the kernel's cache folder, as of `engine_sharing.begin`.

    Returns:
      `joined_facts`, with "stacks" and "journal", the paths of the files, "main", the number of the main thread, and
      "started", when the process was started, in seconds since 1970.
    """
    if not _Stacks.folder or not os.path.exists(_path("stacks")):  # a job that this was in before has been left
        _Stacks.folder = folder if os.path.isdir(folder) else _own_folder()
        stack_teller.begin(_path("stacks"))
        engine_journal.begin(_path("journal"))
        listening.start()
        run_cells.are_of(ENGINES)
    facts = joining.joined_facts()
    engine_sharing.begin(folder, facts["process"], kept)
    return facts | {
        "stacks": _path("stacks"),
        "journal": _path("journal"),
        "main": threading.main_thread().ident,
        "started": process_start(os.getpid()),
    }


def _own_folder() -> str:
    made = tempfile.mkdtemp(prefix="jaxstage-engine-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def process_start(pid: int) -> float:
    """When a process of this host was started, in seconds since 1970; 0 where there is none, or it has ended."""
    import psutil

    try:
        found = psutil.Process(pid)
        return 0.0 if found.status() == psutil.STATUS_ZOMBIE else float(found.create_time())
    except psutil.Error:
        return 0.0


def _path(what: str) -> str:
    return os.path.join(_Stacks.folder, f"{what}-{os.getpid()}.txt")
