"""The records of one cache folder, in JAXStage's own folder; other kernels read and write them too."""

from __future__ import annotations

import functools
import hashlib
import os
import time
from pathlib import Path

from jaxstage_ext.compilation.persistent import entry_check, record_store
from jaxstage_ext.compilation.persistent.key_record import FileSeal, KeyRecord, packed, unpacked
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, PersistentFacts
from jaxstage_ext.core.jax_private import cache_key_parts
from jaxstage_ext.core.jax_private.persistent_cache import CacheRequest
from jaxstage_ext.store.named_files import NamedFile, NamedFiles, cache_folder

FOLDER = "JAXSTAGE_RECORDS_DIR"
"""The environment variable that names another folder for the records."""
MOST_BYTES, MOST_RECORDS = 100_000_000, 20_000
_WRITES_BETWEEN_CHECKS = 64
_MOST_IN_MEMORY = 64


class RecordStore:
    """The records of the entries in one cache folder.

    Every method raises OSError or ValueError where the folder of the records cannot be used.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        named = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:32]
        base = Path(os.environ.get(FOLDER) or _own_folder())
        self._records = NamedFiles(base / named, ".record", MOST_BYTES, MOST_RECORDS)
        self._hits = NamedFiles(base / named, ".hit", 1_000_000, MOST_RECORDS)
        self._writes = 0

    @property
    def path(self) -> Path:
        """Where the records are."""
        return self._records.folder

    def get(self, key: str) -> KeyRecord | None:
        """The record of a key; None where there is none, or what is there is not one."""
        data = self._records.read(key)
        if data is None:
            return None
        try:
            return unpacked(key, self.folder, data)
        except ValueError:
            return None

    def put(self, record: KeyRecord) -> None:
        """Keep a record, in place of an earlier one of its key."""
        self._records.write(record.key, packed(record, self.folder))
        if self._writes % _WRITES_BETWEEN_CHECKS == 0:
            self._records.make_room()
            self._hits.make_room()
        self._writes += 1

    def note_hit(self, key: str) -> None:
        """Keep that an entry was read now."""
        self._hits.write(key, b"")

    def hit_times(self) -> dict[str, float]:
        """When the entries that were read while JAXStage watched were read last."""
        return {file.name: file.time for file in self._hits.listed()}

    def listed(self, module_name: str = "") -> list[NamedFile]:
        """The keys that have records, newest first; with a name those of modules of that name."""
        files = self._records.listed(f"{module_name}-" if module_name else "")
        return [file for file in files if not module_name or len(file.name) == len(module_name) + 65]


def _own_folder() -> Path:
    try:
        return cache_folder() / "compilation_cache_records"
    except RuntimeError as error:  # no HOME, and a user without one
        raise OSError(str(error)) from None


@functools.lru_cache(maxsize=_MOST_IN_MEMORY)
def records_of(folder: str) -> RecordStore:
    """The records of the entries in a cache folder."""
    return RecordStore(folder)


_NOT_WHOLE = "the entry's file is incomplete"


def record_of(folder: str, key: str) -> KeyRecord | None:
    """Our record of an entry; None where there is none, or the records cannot be read."""
    try:
        return record_store.records_of(folder).get(key)
    except (OSError, ValueError):
        return None


def after_write(made: PersistentFacts, path: str, request: CacheRequest, seconds: float) -> None:
    """Record an entry that was written now; one whose file is not whole is a failed write."""
    version = entry_check.version(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:  # evicted since
        return
    try:
        seal = entry_check.sealed(data, version or (0, len(data), 0))
    except Exception:  # whatever the decompressor raises
        made.outcome, made.reason = CacheOutcome.WRITE_FAILED, _NOT_WHOLE
        return
    _keep(made, request, seconds, seal)


def after_hit(made: PersistentFacts, request: CacheRequest, known: KeyRecord | None) -> None:
    """Take the compile's time from the record; an entry of another process is recorded without a seal."""
    if known is None:
        _keep(made, request, made.compile_seconds, None)
    elif known.seconds is not None and made.read_seconds is not None:
        made.compile_seconds, made.saved_seconds = known.seconds, known.seconds - made.read_seconds
    try:
        record_store.records_of(made.folder).note_hit(made.key)
    except (OSError, ValueError):
        return


def _keep(made: PersistentFacts, request: CacheRequest, seconds: float | None, seal: FileSeal | None) -> None:
    parts = cache_key_parts.key_bytes(request, made.flags)
    if parts.key != made.key:  # a JAX that makes keys otherwise: nothing is said of its parts
        return
    devices = cache_key_parts.device_words(request.devices)
    record = KeyRecord(made.key, made.module_name, parts.parts, time.time(), seconds, devices, seal)
    try:
        record_store.records_of(made.folder).put(record)
    except (OSError, ValueError) as error:
        made.reason = f"not recorded: {getattr(error, 'strerror', None) or error}"
