"""Keeps a record of each entry that was written or read, and what the records say of a hit."""

from __future__ import annotations

import time

from jaxstage_ext.compilation.persistent import entry_check, record_store
from jaxstage_ext.compilation.persistent.key_record import FileSeal, KeyRecord
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, PersistentFacts
from jaxstage_ext.core.jax_private import cache_key_parts
from jaxstage_ext.core.jax_private.persistent_cache import CacheRequest

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
