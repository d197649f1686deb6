"""The entries in a cache folder: what JAX's files tell, and what our records know of them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from jaxstage_ext.compilation.persistent import entry_check, record_store
from jaxstage_ext.compilation.persistent.damaged_entries import ASIDE
from jaxstage_ext.compilation.persistent.entry_check import EntryCheck
from jaxstage_ext.compilation.persistent.key_record import KeyRecord
from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.jax_private.persistent_cache import SUFFIX, USED_SUFFIX

_DIGEST = 64


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One entry."""

    key: str
    bytes: int
    written: float
    """When its file was written."""
    last_hit: float | None
    """When it was read last while JAXStage watched; None: never seen."""
    was_hit_here: bool
    """Whether this kernel read it."""
    record: KeyRecord | None
    """Ours of it; None where nobody recorded it."""
    check: EntryCheck | None
    """Of its file, also one that this kernel made before it read it; None where nobody checked it."""
    is_torn: bool
    """Whether the file cannot be an entry: empty, or not compressed data."""
    other_version: str
    """The jaxlib or the compression that it was written with, where that is not this kernel's."""
    is_read_only: bool
    """Whether the file cannot be written."""
    lacks_time: bool
    """Whether the file with its last use is missing."""
    was_written_here: bool = False
    """Whether this kernel wrote it, and nothing since."""
    is_unreadable: bool = False
    """Whether it cannot be read."""

    @property
    def module_name(self) -> str:
        """The program's name, which the key begins with."""
        return self.key[: -_DIGEST - 1]

    @property
    def is_damaged(self) -> bool:
        """Whether JAX should not read it."""
        return self.is_torn or (self.check is not None and self.check.is_suspect)


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """All files of a cache folder that are of the cache."""

    entries: tuple[CacheEntry, ...]
    """Newest first."""
    aside: int = 0
    """How many damaged entries were set aside, and their bytes in `aside_bytes`."""
    aside_bytes: int = 0


@dataclass(frozen=True, slots=True)
class KeysSeen:
    """The entries of a folder that this kernel read and wrote."""

    hit: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


def read(folder: str, seen: KeysSeen, verify: bool = False) -> FolderFiles:
    """The entries of a folder; with `verify` every file is read and compared with its checksum. Raises OSError."""
    names, aside = {}, []
    with os.scandir(folder) as scanned:
        for each in scanned:
            with contextlib.suppress(OSError):  # evicted meanwhile, or a link to nowhere
                if each.name.endswith((SUFFIX, USED_SUFFIX)) and stat.S_ISREG(each.stat().st_mode):
                    names[each.name] = each.stat()
                elif each.name.endswith(SUFFIX + ASIDE):
                    aside.append(each.stat().st_size)
    records, hits = _records(folder)
    seals = {key: record.seal.sha256 for key, record in records.items() if record.seal is not None}
    made = [
        _entry(folder, name.removesuffix(SUFFIX), status, names, records, hits, seen, verify, seals)
        for name, status in names.items()
        if name.endswith(SUFFIX)
    ]
    made.sort(key=lambda entry: (-entry.written, entry.key))
    return FolderFiles(tuple(made), len(aside), sum(aside))


def _records(folder: str) -> tuple[dict[str, KeyRecord], dict[str, float]]:
    """Our records and the times of the last hits, by key; none of them where they cannot be read."""
    try:
        store = record_store.records_of(folder)
        return dict(_all(store)), store.hit_times()
    except (OSError, ValueError):
        return {}, {}


def _all(store: record_store.RecordStore) -> Iterator[tuple[str, KeyRecord]]:
    for file in store.listed():
        if (record := store.get(file.name)) is not None:
            yield file.name, record


def _entry(
    folder: str,
    key: str,
    status: os.stat_result,
    names: dict[str, os.stat_result],
    records: dict[str, KeyRecord],
    hits: dict[str, float],
    seen: KeysSeen,
    verify: bool,
    seals: dict[str, str],
) -> CacheEntry:
    path, record = os.path.join(folder, key + SUFFIX), records.get(key)
    seal = record.seal if record else None
    differs = seal is not None and seal.version[1] != status.st_size
    return CacheEntry(
        key,
        status.st_size,
        status.st_mtime,
        hits.get(key),
        key in seen.hit,
        record,
        entry_check.check(path, seal, {sha for other, sha in seals.items() if other != key})
        if verify or differs
        else entry_check.known_check(path, seal),
        entry_check.packing(path) == "",
        _other_version(record, path),
        not os.access(path, os.W_OK),
        key + USED_SUFFIX not in names,
        key in seen.written and seal is not None and seal.version == entry_check.stat_version(status),
        not os.access(path, os.R_OK),
    )


def _other_version(record: KeyRecord | None, path: str) -> str:
    if record is not None and record.jaxlib != jax_options.jaxlib_version():
        return f"jaxlib {record.jaxlib}"
    return entry_check.other_packing(path)
