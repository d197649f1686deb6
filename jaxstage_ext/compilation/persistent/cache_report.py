"""The persistent cache at one moment: the folder, its entries, its limits, and what it did for this kernel."""

from __future__ import annotations

import copy
import math
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.persistent import cache_entries, damaged_entries, miss_causes, process_tally
from jaxstage_ext.compilation.persistent.cache_entries import CacheEntry, FolderFiles, KeysSeen
from jaxstage_ext.compilation.persistent.entry_check import EntryCheck
from jaxstage_ext.compilation.persistent.folder_state import FolderState, folder_state
from jaxstage_ext.compilation.persistent.miss_causes import MissCauses
from jaxstage_ext.compilation.persistent.process_tally import CacheTally
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.core.jax_private import persistent_cache
from jaxstage_ext.core.jax_private.persistent_cache import WriteLimits
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Place, Table
from jaxstage_ext.report.text.typed_forms import typed

_NOT_RECORDED = "JAXStage was not loaded when it was written"
_NO_HIT = "not read while JAXStage was loaded"


@dataclass(frozen=True, slots=True, eq=False)
class CacheReport:
    """What is known of the persistent cache."""

    state: FolderState
    """The folder in use."""
    files: FolderFiles
    """Its entries; none of them where `problem` says why they cannot be read."""
    limits: WriteLimits
    """Below which JAX writes nothing."""
    tally: CacheTally
    """What the cache did for this kernel's compiles."""
    was_verified: bool
    """Whether every entry was read and compared with its checksum."""
    problem: str = ""
    set_aside: tuple[str, ...] = ()
    """The names that damaged entries were given now."""
    is_watched: bool = True
    """Whether the compile log is on."""
    never_hits: bool = False
    """Whether this is a process of a job on CPUs other than the first: no entry has a key that it makes."""
    newest_record: int = field(default_factory=lambda: LOG.newest)
    """The number of the compile log's last record at that moment."""

    @property
    def entries(self) -> tuple[CacheEntry, ...]:
        """The entries, newest first."""
        return self.files.entries

    @property
    def bytes(self) -> int:
        """The size of all entries."""
        return sum(entry.bytes for entry in self.entries)

    @property
    def damaged(self) -> tuple[CacheEntry, ...]:
        """The entries that JAX should not read, as far as they were checked."""
        return tuple(entry for entry in self.entries if entry.is_damaged)

    def misses(self) -> MissCauses:
        """Why the misses in the compile log missed. It compares keys, which takes a moment."""
        return miss_causes.miss_causes(self.newest_record)

    def table(self) -> Table:
        """One row an entry, newest first: what its file tells, and what was recorded when it was written."""
        entries = self.entries
        reasons: dict[Place, str] = {}
        for row, entry in enumerate(entries):
            reasons |= {(row, name): why for name, why in _reasons(entry).items()}
        columns = {
            "program": Column([entry.module_name for entry in entries], doc="The program's name."),
            "size": Column([entry.bytes for entry in entries], "B", "The size of its file."),
            "written": Column([moment(entry.written) for entry in entries], doc="When, in local time."),
            "compile": Column([_seconds(entry) for entry in entries], "s", "What its first compile took."),
            "last_hit": Column(
                [None if entry.last_hit is None else moment(entry.last_hit) for entry in entries],
                doc="When it was read last, in local time.",
            ),
            "hit_here": Column([entry.was_hit_here for entry in entries], doc="Whether this kernel read it."),
            "state": Column([state_word(entry) for entry in entries], doc="Verified, damaged, of another version."),
            "devices": Column([entry.record.devices if entry.record else None for entry in entries]),
            "jaxlib": Column([entry.record.jaxlib if entry.record else None for entry in entries]),
            "key": Column([entry.key for entry in entries], doc="The name of its file, without `-cache`."),
        }
        return Table("compile cache", columns, reasons)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table().to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON, which `Table.from_json` reads."""
        return self.table().to_json(**rows)


def moment(seconds: float) -> str:
    """Seconds since 1970 as local time: `2026-11-22 18:00:02`."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def state_word(entry: CacheEntry) -> str | None:
    """The most important of what is known of an entry's file; None where it was not checked."""
    if entry.is_torn:
        return "torn"
    if entry.check is not None and entry.check.is_suspect:
        return entry.check.value
    if entry.other_version:
        return f"other version ({entry.other_version})"
    if entry.check in (None, EntryCheck.NOT_VERIFIED) and entry.was_written_here:
        return "written by this kernel"
    return entry.check.value if entry.check is not None else None


def hit_word(entry: CacheEntry) -> str | None:
    """When an entry was read last; None where nobody watched it."""
    if entry.was_hit_here:
        return "this kernel"
    if entry.last_hit is not None:
        return moment(entry.last_hit)
    return "none seen" if entry.record is not None else None


def _seconds(entry: CacheEntry) -> float:
    seconds = entry.record.seconds if entry.record else None
    return math.nan if seconds is None else seconds


def how_to_verify() -> str:
    """What reads every entry."""
    return f"{typed('%compile_cache --verify', 'jaxstage_ext.compile_cache(verify=True)')} reads every entry"


def _reasons(entry: CacheEntry) -> dict[str, str]:
    reasons: dict[str, str] = {} if state_word(entry) else {"state": how_to_verify()}
    if entry.last_hit is None:
        reasons["last_hit"] = _NO_HIT
    if entry.record is None:
        reasons |= dict.fromkeys(("compile", "devices", "jaxlib"), _NOT_RECORDED)
    elif entry.record.seconds is None:
        reasons["compile"] = _NOT_RECORDED
    return reasons


def cache_report(verify: bool = False, set_aside: bool = False) -> CacheReport:
    """The cache now; with `verify` every entry is read, with `set_aside` the damaged ones are then renamed.

    Raises OSError where a damaged entry cannot be renamed.
    """
    never_hits = not persistent_cache.is_first_process() and persistent_cache.keys_differ_between_processes()
    return replace(_report(verify, set_aside), is_watched=listening.is_on(), never_hits=never_hits)


def _report(verify: bool, set_aside: bool) -> CacheReport:
    state = folder_state()
    limits, tally = persistent_cache.write_limits(), copy.deepcopy(process_tally.tally())
    here = KeysSeen(_of_folder(tally.hit_keys, state.folder), _of_folder(tally.written_keys, state.folder))
    if not state.folder or not state.is_there:
        return CacheReport(state, FolderFiles(()), limits, tally, verify)
    try:
        files = cache_entries.read(state.folder, here, verify or set_aside)
    except OSError as error:
        return CacheReport(state, FolderFiles(()), limits, tally, verify, error.strerror or str(error))
    made = CacheReport(state, files, limits, tally, verify or set_aside)
    if not (set_aside and made.damaged):
        return made
    names = tuple(_set_aside(state.folder, entry) for entry in made.damaged)
    return CacheReport(state, cache_entries.read(state.folder, here, True), limits, tally, True, "", names)


def _of_folder(keys: Iterable[tuple[str, str]], folder: str) -> frozenset[str]:
    return frozenset(key for used, key in keys if used == folder)


def _set_aside(folder: str, entry: CacheEntry) -> str:
    path = os.path.join(folder, entry.key + persistent_cache.SUFFIX)
    return os.path.basename(damaged_entries.set_aside(path))
