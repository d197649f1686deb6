"""A view of the log that does not change: records, their causes, tables and totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from time import thread_time
from typing import Any, Self, Unpack
from weakref import WeakKeyDictionary

from jaxstage_ext.compilation.causes import cause_wording, causes
from jaxstage_ext.compilation.causes.cause import Advice, Cause, Verdict
from jaxstage_ext.compilation.causes.precedents import Precedents
from jaxstage_ext.compilation.history import history_tables, history_totals
from jaxstage_ext.compilation.history.history_rows import HistoryRow, is_eager, rows_of
from jaxstage_ext.compilation.history.history_totals import Totals
from jaxstage_ext.compilation.records.compile_log import LOG, CompileLog
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord
from jaxstage_ext.compilation.records.record_names import is_of_function
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome, is_lookup, outcome
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.view_parts import in_one_line

_NOT_RECOMPILES = (Cause.FIRST, Cause.EAGER, Cause.FAILED_BEFORE)
"""Causes of a program that had not been compiled before."""


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """Records of the log, oldest first, with what they are compared with."""

    records: tuple[CompileRecord, ...]
    """Those that are shown."""
    earlier: tuple[CompileRecord, ...]
    """All records that the log holds, which causes are found among."""
    dropped: int = 0
    """How many older ones the log has let go."""
    _verdicts: dict[int, Verdict] = field(default_factory=dict)
    _index: list[Precedents] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.records)

    def verdict(self, record: CompileRecord) -> Verdict:
        """Why a record came about, found once."""
        known = self._verdicts.get(record.number)
        if known is None:
            known = _verdict(record, self._precedents())
            if outcome(record) is not RecordOutcome.RUNNING:
                self._verdicts[record.number] = known
        return known

    def why(self, record: CompileRecord) -> str:
        """Why a record came about, in one sentence."""
        return cause_wording.why(record, self.verdict(record))

    def advice(self, record: CompileRecord) -> Advice | None:
        """What avoids it; None where nothing needs to be done."""
        return cause_wording.advice(record, self.verdict(record))

    @property
    def totals(self) -> Totals:
        """Seconds of the user's own records: spent, wasted, avoidable and saved."""
        return self.totals_within(inf)

    @property
    def spent(self) -> float:
        """Own seconds of all records, JAXStage's too."""
        return history_totals.seconds(self.records)

    def totals_within(self, seconds: float) -> Totals:
        """The same, where the comparison takes at most so long, the longest compiles first."""
        users = [record for record in self.records if record.asker is Asker.USER]
        judged, end = list[tuple[CompileRecord, Verdict]](), thread_time() + seconds
        for record in sorted(users, key=lambda record: -record.own_seconds):
            if record.number not in self._verdicts and thread_time() > end:
                break
            judged.append((record, self.verdict(record)))
        return history_totals.totals(users, judged)

    def only(
        self,
        keep: Callable[[CompileRecord], bool] | None = None,
        *,
        cell: int | None = None,
        function: str | None = None,
        over: float = 0,
    ) -> Self:
        """The records for which all that is given holds.

        Args:
          keep: a predicate of a record.
          cell: the execution count of the cell that ran.
          function: its name, such as "step" or "Model.step".
          over: least own seconds.
        """

        def is_kept(record: CompileRecord) -> bool:
            return (
                (cell is None or record.cell == cell)
                and (function is None or is_of_function(record, function))
                and (not over or record.own_seconds >= over)
                and (keep is None or keep(record))
            )

        return replace(self, records=tuple(filter(is_kept, self.records)))

    def recompiles(self) -> Self:
        """The user's records of functions that JAX had compiled before, for which something differs."""
        return self.only(self.is_recompile)

    def is_recompile(self, record: CompileRecord) -> bool:
        """Whether a function of the user's had been compiled before."""
        if record.asker is not Asker.USER or is_eager(record) or is_lookup(record):
            return False
        found = self.verdict(record)
        return found.nearest is not None and found.cause not in _NOT_RECOMPILES

    def rows(self, eager: bool = False) -> list[HistoryRow]:
        """The rows of the table; with `eager`, each eager operation has its own."""
        return rows_of(self.records, eager) if eager else [*self._folded_rows]

    @cached_property
    def _folded_rows(self) -> Sequence[HistoryRow]:
        return rows_of(self.records, eager=False)

    def table(self, eager: bool = False) -> Table:
        """One row a record: number, when, cell, line, function, signature, trace, lower, compile, served_by,
        persistent, effects, outcome, cause, why, advice, code, asker.

        Seconds of a stage are without those of records inside it. The eager operations of a line share a row unless
        `eager` is set.
        """
        return history_tables.table(self, self.rows(eager))

    def by_function(self) -> Table:
        """One row a function, the most expensive first."""
        return history_tables.by_function(self)

    def by_cell(self) -> Table:
        """One row a cell that ran, in their order."""
        return history_tables.by_cell(self)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table().to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON, each eager operation in a row of its own; `Table.from_json` reads it."""
        return self.table(eager=True).to_json(**rows)

    def _precedents(self) -> Precedents:
        """The index of all records, which selections share."""
        if not self._index:
            self._index.append(Precedents(self.earlier))
        return self._index[0]


def _verdict(record: CompileRecord, earlier: Precedents) -> Verdict:
    try:
        return causes.verdict(record, earlier)
    except Exception as error:  # of code of the user's that takes part in a comparison
        return Verdict(Cause.UNKNOWN, reason=f"the comparison with earlier compiles failed: {in_one_line(error, 200)}")


_known: WeakKeyDictionary[CompileLog, dict[int, Verdict]] = WeakKeyDictionary()
"""The verdicts of each log's records, which do not change."""


def history(log: CompileLog = LOG) -> History:
    """All that the log holds at this moment."""
    records = tuple(log)
    verdicts = _known.setdefault(log, {})
    if len(verdicts) > 2 * len(records):
        numbers = {record.number for record in records}
        for number in verdicts.keys() - numbers:
            verdicts.pop(number, None)
    return History(records, records, log.dropped, verdicts)


def forget() -> None:
    """Forget the verdicts of every log."""
    _known.clear()
