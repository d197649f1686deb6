"""Why the persistent cache missed: the misses in the compile log, grouped by what made their keys differ."""

from __future__ import annotations

import enum
import functools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jaxstage_ext.compilation.persistent import missed_entry, record_store
from jaxstage_ext.compilation.persistent.key_differences import KeyDifference
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, CompileRecord, PersistentFacts
from jaxstage_ext.core.jax_private import persistent_cache
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart

MOST_EXPLAINED = 40
"""The newest misses whose keys are compared."""
_IN_FOLDER = (CacheOutcome.HIT, CacheOutcome.WRITTEN)


class MissCause(enum.Enum):
    """Why an entry was not read."""

    DIFFERS = "differs"
    """Its key differs from that of the nearest entry."""
    NO_EARLIER_ENTRY = "no earlier entry"
    NOT_WRITTEN_BEFORE = "not written before"
    """This kernel had compiled the same key, and it was not written."""
    REMOVED = "removed"
    """Its entry was in the folder earlier."""
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MissGroup:
    """Misses that have the same cause."""

    cause: MissCause
    values: tuple[str, ...]
    """The names of the flags, options or parts of the key that differ."""
    records: tuple[int, ...]
    """Their numbers in the log."""


@dataclass(frozen=True, slots=True)
class MissCauses:
    """The groups, largest first; `total` misses are in the log, and the newest of them are in the groups."""

    groups: tuple[MissGroup, ...] = ()
    total: int = 0

    @property
    def explained(self) -> int:
        """How many misses are in the groups."""
        return sum(len(group.records) for group in self.groups)


def miss_causes(newest: int) -> MissCauses:
    """The causes of the misses in this kernel's log, up to the record of that number."""
    records = tuple(record for record in LOG if record.number <= newest)
    misses = [record for record in records if _is_miss(record)]
    grouped: dict[tuple[MissCause, tuple[str, ...]], list[int]] = {}
    for record in misses[-MOST_EXPLAINED:]:
        cause = _known_in_log(record, records) or _by_key(record.number)
        grouped.setdefault(cause, []).append(record.number)
    groups = [MissGroup(*cause, tuple(numbers)) for cause, numbers in grouped.items()]
    return MissCauses(tuple(sorted(groups, key=lambda group: -len(group.records))), len(misses))


def _is_miss(record: CompileRecord) -> bool:
    facts = record.persistent
    return facts is not None and bool(facts.folder) and facts.outcome is not CacheOutcome.HIT


def _known_in_log(record: CompileRecord, records: Iterable[CompileRecord]) -> tuple[MissCause, tuple[str, ...]] | None:
    """The cause where the log itself has it: an earlier compile of the same key."""
    facts = record.persistent
    assert facts is not None
    if facts.outcome is CacheOutcome.UNREADABLE:
        return MissCause.UNREADABLE, ()
    earlier = [other.outcome for number, other in _same_key(facts, records) if number < record.number]
    if not earlier:
        return None
    if not any(outcome in _IN_FOLDER for outcome in earlier):
        return MissCause.NOT_WRITTEN_BEFORE, ()
    return _removed_or_unreadable(facts), ()


def _removed_or_unreadable(facts: PersistentFacts) -> MissCause:
    """Why an entry was not read that had been there: it is gone, or it cannot be read."""
    if facts.outcome is CacheOutcome.WRITTEN:
        return MissCause.REMOVED  # JAX writes no entry where there is one
    try:
        os.stat(os.path.join(facts.folder, facts.key + persistent_cache.SUFFIX))
    except FileNotFoundError:
        return MissCause.REMOVED
    except OSError:
        return MissCause.UNREADABLE
    return MissCause.UNREADABLE


def _same_key(facts: PersistentFacts, records: Iterable[CompileRecord]) -> Iterator[tuple[int, PersistentFacts]]:
    for record in records:
        other = record.persistent
        if other is not None and (other.folder, other.key) == (facts.folder, facts.key):
            yield record.number, other


def records_of_key(folder: str, key: str) -> list[CompileRecord]:
    """The compiles in the log that asked for an entry, oldest first."""
    asked = ((record, record.persistent) for record in LOG)
    return [record for record, facts in asked if facts is not None and (facts.folder, facts.key) == (folder, key)]


@functools.lru_cache(maxsize=1024)
def _by_key(number: int) -> tuple[MissCause, tuple[str, ...]]:
    """The cause by what the records of the folder say, compared once for each compile."""
    record = LOG.record(number)
    if record is None or record.persistent is None:
        return MissCause.UNKNOWN, ()
    own = record_store.record_of(record.persistent.folder, record.persistent.key)
    if own is not None and own.written < record.began:
        return _removed_or_unreadable(record.persistent), ()
    missed = missed_entry.explain(record)
    if missed.differences:
        return MissCause.DIFFERS, tuple(dict.fromkeys(_values(missed.differences)))
    return (MissCause.NO_EARLIER_ENTRY if missed.has_no_earlier else MissCause.UNKNOWN), ()


@dataclass(frozen=True, slots=True)
class ProgramChange:
    """What alone tells a missed program from the nearest entry of its name."""

    constants: tuple[tuple[str, str], ...] = ()
    """(there, here) of constants that differ."""
    is_address: bool = False
    """Whether it is the address of a Python object in a custom call, which is another in every process."""
    entries: int = 0
    """How many entries of its name are recorded beside it, those of at most the newest 32."""


@functools.lru_cache(maxsize=256)
def program_change(number: int) -> ProgramChange | None:
    """Of a miss in the log what differs in StableHLO; None where more differs, or it is not known."""
    record = LOG.record(number)
    if record is None or record.persistent is None or not _is_miss(record):
        return None
    differences = missed_entry.explain(record).differences
    if len(differences) != 1 or differences[0].part is not KeyPart.COMPUTATION:
        return None
    diff, facts = differences[0].diff, record.persistent
    listed = record_store.records_of(facts.folder).listed(facts.module_name)
    entries = sum(file.name != facts.key for file in listed)
    if only_addresses_differ(diff):
        return ProgramChange(is_address=True, entries=entries)
    constants = tuple(changed_constants(diff))
    return ProgramChange(constants, entries=entries) if constants else None


def _in_stablehlo(diff: Sequence[str]) -> str:
    """What differs in the text of StableHLO, where that is one constant or an address."""
    if only_addresses_differ(diff):
        return "StableHLO (an address in a custom call, which is another in every process)"
    changed = changed_constants(diff)
    if not changed:
        return "StableHLO"
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"StableHLO (a constant: {changed[0][1]}, was {changed[0][0]}{more})"


def _values(differences: tuple[KeyDifference, ...]) -> Iterator[str]:
    is_signature = any(each.what == "signature" for each in differences)
    for each in differences:
        if each.part is KeyPart.COMPUTATION:
            yield "StableHLO signature" if is_signature else _in_stablehlo(each.diff)
        else:
            named = each.part in (KeyPart.FLAGS, KeyPart.OPTIONS)
            yield each.what.removeprefix("compiler_options.") if named else each.part.value


_CONSTANT = re.compile(r"dense<([^<>]*)>")
_ADDRESS = re.compile(r"\b\d{8,20}\b|0x[0-9a-fA-F]{6,16}")
_CALL = "custom_call"
_LONGEST = 40


def changed_constants(diff: Sequence[str]) -> list[tuple[str, str]]:
    """(before, now) of the constants that differ, where nothing else does; else none."""
    found = []
    for was, now in _pairs(diff):
        before, after = _CONSTANT.findall(was), _CONSTANT.findall(now)
        if _CONSTANT.sub("dense<>", was) != _CONSTANT.sub("dense<>", now) or len(before) != len(after):
            return []
        found += [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    return [(_cut(before), _cut(now)) for before, now in found]


def only_addresses_differ(diff: Sequence[str]) -> bool:
    """Whether nothing differs but numbers in custom calls that look like the addresses of Python objects."""
    pairs = _pairs(diff)
    return bool(pairs) and all(_CALL in was and _ADDRESS.sub("", was) == _ADDRESS.sub("", now) for was, now in pairs)


def _pairs(diff: Sequence[str]) -> list[tuple[str, str]]:
    """The lines that stand for each other; none where one side has more."""
    was, now = ([line[1:] for line in diff if line[:1] == sign] for sign in "-+")
    return list(zip(was, now, strict=True)) if len(was) == len(now) else []


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
