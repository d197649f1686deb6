"""What the compiles of a history cost, and what the caches saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jaxstage_ext.compilation.causes.cause import Verdict
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, CompileRecord


@dataclass(frozen=True)
class Totals:
    """Seconds of the user's own compiles. `wasted` and `avoidable` are parts of `spent` that may overlap."""

    spent: float
    """Own seconds of all records."""
    wasted: float
    """Of those whose program had been compiled before."""
    avoidable: float
    """Of those that the user's code can avoid, whether their program is new or not."""
    saved: float | None
    """What the first compile of each cache hit took, less what reading it took; None where no cache told."""
    hits: int
    """How many were loaded from the persistent cache."""
    is_cache_off: bool
    """Whether JAX asked the persistent cache, and had no folder in use each time."""
    is_complete: bool
    """Whether all records were compared; if not, `wasted` and `avoidable` are lower bounds."""


def totals(records: Sequence[CompileRecord], judged: Sequence[tuple[CompileRecord, Verdict]]) -> Totals:
    """The totals of records, of which some were compared with earlier ones."""
    facts = [record.persistent for record in records if record.persistent is not None]
    saved = [one.saved_seconds for one in facts if one.saved_seconds is not None]
    return Totals(
        seconds(records),
        seconds(record for record, verdict in judged if verdict.is_wasted),
        seconds(record for record, verdict in judged if verdict.can_be_mended),
        sum(saved) if saved else None,
        sum(one.outcome is CacheOutcome.HIT for one in facts),
        bool(facts) and all(one.outcome is CacheOutcome.OFF for one in facts),
        len(judged) == len(records),
    )


def seconds(records: Iterable[CompileRecord]) -> float:
    """Own seconds of records, each counted once."""
    return float(sum(record.own_seconds for record in records))
