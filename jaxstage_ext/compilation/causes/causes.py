"""The cause of each record, found by comparison with the earlier ones; whether it was wasted, and can be avoided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from jaxstage_ext.compilation.causes.cause import Cause, Difference, Verdict
from jaxstage_ext.compilation.causes.nearest_record import MOST_DIFFERENCES, RecordComparison, nearest
from jaxstage_ext.compilation.causes.precedents import Precedents
from jaxstage_ext.compilation.causes.sameness import is_number
from jaxstage_ext.compilation.records.compile_record import CompileRecord, Entry, StageName
from jaxstage_ext.compilation.records.record_outcome import is_lookup

_FIRST_TO_NAME: Final = (
    Cause.UNKNOWN,
    Cause.REDEFINED,
    Cause.CONFIG,
    Cause.PYTREE,
    Cause.STATIC_VALUE,
    Cause.STATIC_IDENTITY,
    Cause.SHAPE,
    Cause.DTYPE,
    Cause.WEAK_TYPE,
    Cause.ARGUMENT_FORM,
    Cause.SHARDING_TYPE,
    Cause.JIT_OPTIONS,
    Cause.METHOD_MADE_ANEW,
    Cause.PARTIAL_MADE_ANEW,
    Cause.MADE_ANEW,
    Cause.CELL_RUN_AGAIN,
    Cause.PLACEMENT,
    Cause.OTHER_DEVICE,
    Cause.SETTINGS_ADDED,
    Cause.CAPTURED,
)
"""Which difference is the cause where there are several: the one that alone would have needed a new program."""
_NOTHING_DIFFERS = "nothing that JAXStage records differs from the nearest earlier call"


def verdict(record: CompileRecord, earlier: Sequence[CompileRecord] | Precedents) -> Verdict:
    """Why `record` came about; `earlier` are the records of the log, in any order, or their index. Never raises."""
    try:
        precedents = earlier if isinstance(earlier, Precedents) else Precedents(earlier)
        return _with_program(_verdict(record, precedents.of(record)), precedents.same_program(record))
    except Exception as error:
        return Verdict(Cause.UNKNOWN, reason=f"the comparison failed: {type(error).__name__}")


def _verdict(record: CompileRecord, earlier: Sequence[CompileRecord]) -> Verdict:
    if record.refused is not None:
        return Verdict(record.refused.cause, (record.refused,), can_be_mended=True)
    comparison = nearest(record, earlier)
    if record.entry in _BY_ENTRY:
        return _of_entry(record, comparison)
    if comparison is None:
        return Verdict(Cause.FIRST)
    return _of_differences(record, comparison) if comparison.differences else _of_equals(record, comparison)


def _with_program(found: Verdict, same_program: CompileRecord | None) -> Verdict:
    """With the earlier record of the same program, which need not be the nearest call."""
    return found if same_program is None else replace(found, is_wasted=True, same_program=same_program.number)


_BY_ENTRY: Final = {Entry.EAGER: Cause.EAGER, Entry.INNER: Cause.TRANSFORMED, Entry.AOT: Cause.AHEAD_OF_TIME}


def _of_entry(record: CompileRecord, comparison: RecordComparison | None) -> Verdict:
    cause = _BY_ENTRY[record.entry]
    if comparison is None:
        return Verdict(cause)
    return _made(record, cause, comparison)


def _of_differences(record: CompileRecord, comparison: RecordComparison) -> Verdict:
    known = [d for d in comparison.differences if d.cause is not Cause.UNKNOWN]
    if not known:
        names = ", ".join(d.what or "an argument" for d in comparison.differences)
        reason = f"whether {names} differs cannot be known: the earlier value is gone, or cannot be compared"
        return _made(record, Cause.UNKNOWN, comparison, reason)
    return _made(record, min((d.cause for d in known), key=_FIRST_TO_NAME.index), comparison)


def _of_equals(record: CompileRecord, comparison: RecordComparison) -> Verdict:
    before = comparison.before
    if before.failed is not None:
        return _made(record, Cause.FAILED_BEFORE, comparison)
    if _ran_at_once(before, record):
        return _made(record, Cause.CONCURRENT, comparison)
    if not _repeats(before, record):
        return _made(record, Cause.UNKNOWN, comparison, _NOTHING_DIFFERS)
    seen = (Difference(Cause.CACHE_CLEARED, "jax.clear_caches"),) if record.clears > before.clears else ()
    return replace(_made(record, Cause.CACHE_CLEARED, comparison), differences=seen)


def _ran_at_once(before: CompileRecord, record: CompileRecord) -> bool:
    ends = [run.began + run.seconds if run.seconds is not None else float("inf") for run in before.stages]
    return before.thread != record.thread and max(ends, default=before.began) > record.began


def _repeats(before: CompileRecord, record: CompileRecord) -> bool:
    """Whether a stage was done that the earlier call had done as well: only a cache that lost it explains that."""
    done = {run.stage for run in before.stages if not run.was_cached}
    return any(run.stage in done for run in record.stages if not run.was_cached)


def _made(record: CompileRecord, cause: Cause, comparison: RecordComparison, reason: str = "") -> Verdict:
    shown = _main_first(cause, comparison.differences)
    return Verdict(
        cause,
        shown[:MOST_DIFFERENCES],
        comparison.before.number,
        can_be_mended(record, cause, shown),
        is_wasted(record, cause, comparison),
        reason,
        max(0, len(shown) - MOST_DIFFERENCES),
        is_after_ahead=comparison.before.entry is Entry.AOT,
    )


def _main_first(cause: Cause, differences: Sequence[Difference]) -> tuple[Difference, ...]:
    return tuple(sorted(differences, key=lambda d: (d.cause is not cause, d.before == d.now)))


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
