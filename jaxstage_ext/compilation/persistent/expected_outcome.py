"""Whether a lowered program will hit the persistent cache, before it is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from jaxstage_ext.compilation.persistent import entry_check, missed_entry, outcomes, record_store
from jaxstage_ext.compilation.persistent.entry_check import EntryCheck
from jaxstage_ext.compilation.persistent.missed_entry import MissedEntry
from jaxstage_ext.core.jax_private import cache_key_parts, persistent_cache


@dataclass(frozen=True, slots=True)
class ExpectedOutcome:
    """What the persistent cache has for a program."""

    folder: str
    """That the compile will use; "" where none is in use."""
    key: str
    """Of the program; "" where it is not known."""
    is_hit: bool | None
    """Whether its entry is there; None where that is not known, for `reason`."""
    check: EntryCheck | None = None
    """Of the entry."""
    compile_seconds: float | None = None
    """Of its first compile, where that was recorded."""
    missed: MissedEntry | None = None
    """How the key differs from the nearest entry; None for a hit and without a folder."""
    reason: str = ""


def outcome_of(lowered: Any, given: Mapping[str, Any] = MappingProxyType({})) -> ExpectedOutcome:
    """What the cache has for a `jax.stages.Lowered` with these compiler options; nothing is compiled or loaded.

    It never raises: where the key cannot be made, `reason` says why.
    """
    folder = persistent_cache.state().next_folder
    if not folder:
        return ExpectedOutcome("", "", None, reason="no folder is in use")
    try:
        request = cache_key_parts.request_of(lowered, given)
    except Exception as error:
        return ExpectedOutcome(folder, "", None, reason=f"the key cannot be made: {type(error).__name__}: {error}")
    if outcomes.is_remote(folder):
        return ExpectedOutcome(folder, request.key, None, reason=outcomes.REMOTE)
    return _looked_up(folder, request)


def _looked_up(folder: str, request: persistent_cache.CacheRequest) -> ExpectedOutcome:
    path = outcomes.entry_path(folder, request.key)
    if entry_check.version(path) is None:
        return ExpectedOutcome(folder, request.key, False, missed=_missed(folder, request))
    record = record_store.record_of(folder, request.key)
    check = entry_check.check(path, record.seal if record else None)
    seconds = record.seconds if record else None
    if check is EntryCheck.DAMAGED:
        return ExpectedOutcome(folder, request.key, None, check, seconds, reason="its entry is damaged")
    if other := entry_check.other_packing(path):
        return ExpectedOutcome(folder, request.key, None, check, seconds, reason=outcomes.packed_otherwise(other))
    return ExpectedOutcome(folder, request.key, True, check, seconds)


def _missed(folder: str, request: persistent_cache.CacheRequest) -> MissedEntry:
    try:
        own = missed_entry.made_record(request, None, 0.0)
        return missed_entry.nearest_to(own, folder) if own else MissedEntry(reason="the parts of its key are not known")
    except (OSError, ValueError) as error:
        return MissedEntry(reason=f"the records cannot be read: {getattr(error, 'strerror', None) or error}")
