"""The function whose recompiles cost the most: what a history is headed by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxstage_ext.compilation.causes.precedents import function_key
from jaxstage_ext.compilation.history import history_totals
from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.records.compile_record import CompileRecord


@dataclass(frozen=True)
class RecompilesOfCause:
    """The recompiles of one function that came about for one reason."""

    records: Sequence[CompileRecord]
    """All of them, oldest first."""
    can_be_mended: bool
    """Whether the user's code can avoid any of them."""

    @property
    def record(self) -> CompileRecord:
        """The most expensive."""
        return max(self.records, key=lambda record: record.own_seconds)

    @property
    def seconds(self) -> float:
        """Own seconds of all of them."""
        return history_totals.seconds(self.records)


@dataclass(frozen=True)
class CostliestRecompiles:
    """The recompiles of one function."""

    records: Sequence[CompileRecord]
    """All of them, oldest first."""
    causes: Sequence[RecompilesOfCause]
    """The same by cause: those that the user's code can avoid before others, the most expensive first."""

    @property
    def record(self) -> CompileRecord:
        """The one to look at: the most expensive of the first cause."""
        return self.causes[0].record

    @property
    def can_be_mended(self) -> bool:
        """Whether the user's code can avoid any of them."""
        return self.causes[0].can_be_mended

    @property
    def seconds(self) -> float:
        """Own seconds of all of them."""
        return history_totals.seconds(self.records)


def costliest(history: History) -> CostliestRecompiles | None:
    """The function whose recompiles cost the most, those first that can be avoided; None where nothing recompiled."""
    groups: dict[object, list[CompileRecord]] = {}
    for record in history.records:
        if history.is_recompile(record):
            groups.setdefault(function_key(record), []).append(record)
    return max((_judged(history, group) for group in groups.values()), key=_weight, default=None)


def _judged(history: History, group: Sequence[CompileRecord]) -> CostliestRecompiles:
    parts: dict[object, list[CompileRecord]] = {}
    for record in group:
        verdict = history.verdict(record)
        parts.setdefault((verdict.cause_and_part, verdict.can_be_mended), []).append(record)
    causes = [RecompilesOfCause(part, history.verdict(part[0]).can_be_mended) for part in parts.values()]
    return CostliestRecompiles(group, sorted(causes, key=_weight, reverse=True))


def _weight(found: CostliestRecompiles | RecompilesOfCause) -> tuple[bool, float]:
    return found.can_be_mended, found.seconds
