"""What a record came to, and which of JAX's caches served a part of it: read from the stages that JAX reported."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from jaxstage_ext.compilation.records.compile_record import CacheOutcome, CompileRecord, Entry, StageName


class ServingCache(enum.Enum):
    """One of JAX's caches behind the fast path."""

    TRACE = "trace cache"
    LOWERING = "lowering cache"
    PERSISTENT = "persistent cache"


class RecordOutcome(enum.Enum):
    """How a record ended."""

    COMPILED = "compiled"
    LOADED = "loaded"
    """The executable came from the persistent cache."""
    LOWERED = "lowered"
    TRACED = "traced"
    FAILED = "failed"
    STOPPED = "stopped by the guard"
    """Processes disagree about the program, so it was not compiled."""
    RUNNING = "running"


def served_by(record: CompileRecord) -> tuple[ServingCache, ...]:
    """The caches that spared JAX a stage, as far as its events tell: a call that reports no trace had been traced."""
    trace, lower, compiled = (record.stage(name) for name in StageName)
    called = record.entry is Entry.CALL
    caches = []
    if (trace is not None and trace.was_cached) or (called and trace is None and (lower or compiled)):
        caches.append(ServingCache.TRACE)
    if called and lower is None and compiled is not None:
        caches.append(ServingCache.LOWERING)
    if record.persistent is not None and record.persistent.outcome is CacheOutcome.HIT:
        caches.append(ServingCache.PERSISTENT)
    return tuple(caches)


def outcome(record: CompileRecord) -> RecordOutcome:
    """How a record ended, or that it runs."""
    if record.is_stopped:
        return RecordOutcome.STOPPED
    if record.failed is not None or record.refused is not None:
        return RecordOutcome.FAILED
    is_running = not record.stages
    for run in record.stages:
        if run.failed:
            return RecordOutcome.FAILED
        is_running = is_running or run.seconds is None
    if is_running:
        return RecordOutcome.RUNNING
    if record.stage(StageName.COMPILE) is not None:
        hit = record.persistent is not None and record.persistent.outcome is CacheOutcome.HIT
        return RecordOutcome.LOADED if hit else RecordOutcome.COMPILED
    return RecordOutcome.LOWERED if record.stage(StageName.LOWER) is not None else RecordOutcome.TRACED


def recompiles_text(records: Sequence[CompileRecord]) -> str:
    """`compiled again 2 times and loaded from the persistent cache`: an executable that is loaded is not compiled."""
    loaded = sum(outcome(record) is RecordOutcome.LOADED for record in records)
    counts = {"compiled again": len(records) - loaded, "loaded from the persistent cache": loaded}
    said = [f"{verb} {count:,} times" if count > 1 else verb for verb, count in counts.items() if count]
    return " and ".join(said)


def cache_words(did: CacheOutcome) -> str:
    """`hit`, `miss, written`: what the persistent cache did."""
    if did in (CacheOutcome.HIT, CacheOutcome.OFF, CacheOutcome.UNKNOWN):
        return str(did.value)
    return "miss, written" if did is CacheOutcome.WRITTEN else f"miss, not written: {did.value}"


def is_lookup(record: CompileRecord) -> bool:
    """Whether JAX only looked up what it had: the trace was cached, and neither a lowering nor a compile followed."""
    return bool(record.stages) and all(run.was_cached is True for run in record.stages)


def stage_seconds(record: CompileRecord, name: StageName) -> float | None:
    """Own seconds of the runs of a stage; None where it did not run, or its end was not heard."""
    known = [run.own_seconds for run in record.stages if run.stage is name and run.own_seconds is not None]
    return sum(known) if known else None
