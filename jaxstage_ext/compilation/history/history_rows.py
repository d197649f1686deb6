"""The rows of a history: a record each, but for eager operations, which share one for each line of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, Entry, Place


@dataclass(frozen=True)
class HistoryRow:
    """One row."""

    records: tuple[CompileRecord, ...]
    """The record, or the eager operations of one line, oldest first."""

    @property
    def record(self) -> CompileRecord:
        """The first record, which tells the row's place."""
        return self.records[0]

    @property
    def is_folded(self) -> bool:
        """Whether it stands for eager operations."""
        return len(self.records) > 1

    @property
    def own_seconds(self) -> float:
        """Seconds of all its records."""
        return sum(record.own_seconds for record in self.records)


def rows_of(records: Sequence[CompileRecord], eager: bool) -> list[HistoryRow]:
    """The rows of records, in their order; with `eager`, each eager operation has its own."""
    folded: dict[object, list[CompileRecord]] = {}
    for record in records:
        key = record.number if eager or not is_eager(record) else _place(record)
        folded.setdefault(key, []).append(record)
    return [HistoryRow(tuple(part)) for part in folded.values()]


def _place(record: CompileRecord) -> tuple[int | None, str | None, Place | None, Asker, int]:
    """What the eager operations of one line have in common; those inside a trace belong to it."""
    line = record.user_line or record.call_site
    return record.cell, record.run, line, record.asker, record.parent or 0


def line_of(record: CompileRecord) -> Place | None:
    """The user's own line, or else the innermost one outside JAX."""
    return record.user_line or record.call_site


def is_eager(record: CompileRecord) -> bool:
    """Whether it is of an operation outside any jitted function of the user's, under a transformation or not."""
    if record.entry is Entry.INNER and record.function is not None:
        return record.function.module.partition(".")[0] == "jax"
    return record.entry is Entry.EAGER
