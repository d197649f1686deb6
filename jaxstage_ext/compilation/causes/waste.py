"""Whether a record's time bought nothing, and whether the user's code can avoid it."""

from __future__ import annotations

from typing import Final

from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.causes.nearest_record import RecordComparison
from jaxstage_ext.compilation.causes.sameness import is_number
from jaxstage_ext.compilation.records.compile_record import CompileRecord, StageName
from jaxstage_ext.compilation.records.record_outcome import is_lookup

_BY_THE_USER: Final = frozenset(
    {
        Cause.SHAPE,
        Cause.DTYPE,
        Cause.WEAK_TYPE,
        Cause.PYTREE,
        Cause.ARGUMENT_FORM,
        Cause.PLACEMENT,
        Cause.SHARDING_TYPE,
        Cause.STATIC_IDENTITY,
        Cause.CONFIG,
        Cause.SETTINGS_ADDED,
        Cause.JIT_OPTIONS,
        Cause.CELL_RUN_AGAIN,
        Cause.MADE_ANEW,
        Cause.PARTIAL_MADE_ANEW,
        Cause.METHOD_MADE_ANEW,
        Cause.CAPTURED,
        Cause.CACHE_CLEARED,
        Cause.UNHASHABLE_STATIC,
        Cause.DONATED_BEFORE,
    }
)
_SAME_PROGRAM: Final = frozenset(
    {
        Cause.CELL_RUN_AGAIN,
        Cause.MADE_ANEW,
        Cause.PARTIAL_MADE_ANEW,
        Cause.METHOD_MADE_ANEW,
        Cause.SETTINGS_ADDED,
    }
)


def can_be_mended(record: CompileRecord, cause: Cause, differences: tuple[Difference, ...]) -> bool:
    """Whether the user's code can avoid such a compile."""
    if is_lookup(record):
        return False
    if cause is Cause.STATIC_VALUE:
        differing = {d.what for d in differences if d.cause is cause}
        statics = record.signature.statics if record.signature else ()
        return any(value.name in differing and is_number(value.value) for value in statics)
    return cause in _BY_THE_USER


def is_wasted(record: CompileRecord, cause: Cause, comparison: RecordComparison) -> bool:
    """Whether the same program had been compiled before; False where that is not known."""
    before = comparison.before
    if record.failed or before.failed or record.stage(StageName.COMPILE) is None:
        return False
    if (same := _same_key(before, record)) is not None:
        return same
    if before.stage(StageName.COMPILE) is None:
        return False
    if not comparison.differences:
        return cause is not Cause.UNKNOWN
    return all(d.cause in _SAME_PROGRAM for d in comparison.differences)


def _same_key(before: CompileRecord, record: CompileRecord) -> bool | None:
    """Whether the persistent cache's keys are equal, which are made from the program; None where one has none."""
    keys = tuple(found.persistent.key if found.persistent else "" for found in (before, record))
    return keys[0] == keys[1] if all(keys) else None
