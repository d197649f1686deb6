"""Why a compile missed the persistent cache: how its key differs from the nearest entry that was recorded earlier."""

from __future__ import annotations

import time
from dataclasses import dataclass

from jaxstage_ext.compilation.persistent import key_differences, record_store
from jaxstage_ext.compilation.persistent.key_differences import KeyDifference
from jaxstage_ext.compilation.persistent.key_record import KeyRecord
from jaxstage_ext.compilation.records.compile_record import CompileRecord, PersistentFacts
from jaxstage_ext.core.jax_private import cache_key_parts
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.core.jax_private.persistent_cache import CacheRequest
from jaxstage_ext.report.unavailable import Unavailable

_MOST_COMPARED = 32
_NO_FOLDER = "no folder was in use"
_WEIGHTS = {KeyPart.COMPUTATION: 3, KeyPart.OPTIONS: 2}


@dataclass(frozen=True, slots=True)
class MissedEntry:
    """The nearest entry to a key, and how that differs."""

    nearest: KeyRecord | None = None
    """Our record of it; None where there is none."""
    differences: tuple[KeyDifference, ...] = ()
    """Of the key from it."""
    reason: str = ""
    """Why there are no differences; "" where there are."""
    has_no_earlier: bool = False
    """Whether no entry of its name was recorded before it."""


def explain(record: CompileRecord) -> MissedEntry:
    """How the key of a compile in the log differs from the nearest entry recorded before it. Never raises."""
    facts = record.persistent
    if facts is None or not facts.folder:
        return MissedEntry(reason=_NO_FOLDER)
    try:
        return nearest_to(key_of(record), facts.folder, record.began)
    except Unavailable as unknown:
        return MissedEntry(reason=str(unknown))
    except Exception as error:
        return MissedEntry(reason=f"the records cannot be read: {getattr(error, 'strerror', None) or error}")


def key_of(record: CompileRecord) -> KeyRecord:
    """What the key of a compile in the log was made of.

    Raises Unavailable where that is unknown, and OSError or ValueError where the records cannot be read.
    """
    facts, kept = record.persistent, record.artefacts
    if facts is None or not facts.folder:
        raise Unavailable(_NO_FOLDER)
    own = record_store.records_of(facts.folder).get(facts.key)
    if own is None:
        if kept.module is None or kept.options is None or not kept.devices:
            raise Unavailable("the program is no longer kept, and its entry was not written")
        request = cache_key_parts.request_of_artefacts(kept.module, kept.options, kept.devices, facts.key)
        own = made_record(request, facts, record.began)
    if own is None:
        raise Unavailable("JAX made this key in a way that JAXStage does not know")
    return own


def made_record(request: CacheRequest, facts: PersistentFacts | None, began: float) -> KeyRecord | None:
    """What would be recorded of a compile; None where its parts do not make JAX's key."""
    parts = cache_key_parts.key_bytes(request, facts.flags if facts else None)
    if parts.key != request.key:
        return None
    devices = cache_key_parts.device_words(request.devices)
    return KeyRecord(request.key, request.module_name, parts.parts, began, None, devices, None)


def nearest_to(own: KeyRecord, folder: str, before: float | None = None) -> MissedEntry:
    """The entry of the same module name, recorded before a time, with the fewest differing parts; the latest of equals.

    Raises OSError or ValueError where the records cannot be read.
    """
    store = record_store.records_of(folder)
    limit = time.time() if before is None else before
    listed = [file.name for file in store.listed(own.module_name) if file.name != own.key]
    records = (store.get(key) for key in listed[:_MOST_COMPARED])
    earlier = [record for record in records if record is not None and record.written <= limit]
    if not earlier:
        return MissedEntry(
            reason=f"no earlier entry of {own.module_name} was recorded in this folder", has_no_earlier=True
        )
    nearest = min(earlier, key=lambda record: (_distance(record, own), -record.written))
    return MissedEntry(nearest, key_differences.differences(nearest, own))


def _distance(record: KeyRecord, own: KeyRecord) -> tuple[int, int]:
    """Weighted parts that differ, then how much longer or shorter the program is."""
    differing = key_differences.differing_parts(record.parts, own.parts)
    sizes = (sum(map(len, each.parts[KeyPart.COMPUTATION])) for each in (record, own))
    return sum(_WEIGHTS.get(part, 1) for part in differing), abs(next(sizes) - next(sizes))
