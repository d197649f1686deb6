"""JAX's persistent cache at moments made by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

from jaxstage_ext.compilation.persistent.cache_entries import CacheEntry, FolderFiles
from jaxstage_ext.compilation.persistent.cache_report import CacheReport
from jaxstage_ext.compilation.persistent.folder_state import FolderState, FolderUse
from jaxstage_ext.compilation.persistent.process_tally import CacheTally
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.core.jax_private.persistent_cache import WriteLimits

FOLDER, SET = "/cache/jax", "/cache/later"
RECORDED: Any = object()


def state(use: FolderUse = FolderUse.IN_USE, **changes: Any) -> FolderState:
    """The folder that is set is in use, without a limit."""
    is_used = use in (FolderUse.IN_USE, FolderUse.NOT_OPENED_YET, FolderUse.EARLIER_FOLDER)
    was_set = "" if use is FolderUse.NOT_SET else FOLDER if use is FolderUse.IN_USE else SET
    usual = {"folder": FOLDER if is_used else "", "set_folder": was_set, "is_there": is_used, "is_writable": True}
    return FolderState(use, **{**usual, "max_size": None, "is_remote": False, **changes})


def entry(name: str = "jit_step", **changes: Any) -> CacheEntry:
    """An entry of 2 MB that was read once and verified."""
    usual: dict[str, Any] = {"was_hit_here": True, "record": RECORDED, "check": None, "is_torn": False}
    more = {"other_version": "", "is_read_only": False, "lacks_time": False, "written": 0.0, "last_hit": 1.0}
    return CacheEntry(f"{name}-{'0' * 64}", 2_000_000, **{**usual, **more, **changes})


def report(
    folder: FolderState | None = None, *entries: CacheEntry, tally: CacheTally | None = None, **changes: Any
) -> CacheReport:
    """The cache with these entries and what it did for this kernel."""
    files = FolderFiles(entries, changes.pop("aside", 0), 3_000_000)
    limits = changes.pop("limits", WriteLimits(1.0, 0))
    return CacheReport(folder or state(), files, limits, tally or CacheTally(), False, newest_record=0, **changes)


def tally(outcome: CacheOutcome, count: int = 2, **changes: Any) -> CacheTally:
    """What the cache did for compiles of one outcome, 3 s of compiling."""
    return CacheTally(Counter({outcome: count}), Counter({outcome: 3.0}), **changes)  # type: ignore[arg-type]
