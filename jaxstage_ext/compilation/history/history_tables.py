"""The tables of a history."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from jaxstage_ext.compilation.causes.cause import Advice, Cause, Verdict
from jaxstage_ext.compilation.causes.precedents import function_key
from jaxstage_ext.compilation.history.history_rows import HistoryRow, is_eager
from jaxstage_ext.compilation.history.history_totals import seconds
from jaxstage_ext.compilation.records.compile_record import CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import place_text, row_title, unique_title
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome, outcome, served_by, stage_seconds
from jaxstage_ext.compilation.records.signature_text import signature_text
from jaxstage_ext.report.table import Column, Place, Table

_BETWEEN_CELLS = "it ran between cells"
_NOT_RUN = "JAX reported no such stage"
_NOT_ENDED = "its end was not reported"
_NOT_ASKED = "the persistent cache was not asked"
_NO_TRACE = "no trace was seen"
_NO_CALL = "JAX's frames do not show the call"
_NO_LINE = "no line of the user's code was running"


class Judged(Protocol):
    """Records with their causes."""

    @property
    def records(self) -> tuple[CompileRecord, ...]: ...

    def verdict(self, record: CompileRecord) -> Verdict:
        """Why a record came about."""

    def why(self, record: CompileRecord) -> str:
        """Why, in one sentence."""

    def advice(self, record: CompileRecord) -> Advice | None:
        """What avoids it."""

    def is_recompile(self, record: CompileRecord) -> bool:
        """Whether a function of the user's had been compiled before."""


def table(judged: Judged, rows: Sequence[HistoryRow]) -> Table:
    """One row each, with what it is known of it and why."""
    reasons: dict[Place, str] = {}
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for at, row in enumerate(rows):
        for name, (value, reason) in _cells(judged, row).items():
            columns[name].append(value)
            if value is None:
                reasons[at, name] = reason
    made = {
        name: Column(columns[name], _unit(name), doc, is_whole=name in _WHOLE, is_answer=name == "why")
        for name, doc in _COLUMNS.items()
    }
    return Table("compiles", made, reasons)


_COLUMNS = {
    "number": "Counts from 1 in this kernel.",
    "when": "When it began, in local time.",
    "cell": "Execution count of the cell that ran.",
    "line": "The user's own line that caused it.",
    "function": "The function, or the eager operations of one line.",
    "signature": "The types that it was called with, static values last.",
    "trace": "Tracing, without what was compiled during it.",
    "lower": "Lowering to StableHLO, without what was compiled during it.",
    "compile": "Compiling in XLA, or loading from the persistent cache.",
    "served_by": "The caches of JAX that spared it a stage.",
    "persistent": "What JAX's persistent compilation cache did.",
    "effects": "Operations with effects, which keep every call off the fast path.",
    "outcome": "How it ended.",
    "cause": "Why it was not served by the fast path.",
    "why": "The cause in one sentence.",
    "advice": "What avoids it.",
    "code": "The code to write.",
    "asker": "Whose work it was.",
}
_SECONDS = tuple(name.value for name in StageName)
_WHOLE = ("number", "cell", "compiles", "recompiles")


def _unit(name: str) -> str:
    return "s" if name in (*_SECONDS, "own", "wasted", "avoidable") else ""


def _cells(judged: Judged, row: HistoryRow) -> dict[str, tuple[Any, str]]:
    """The values of a row, each with why it is unknown where it is."""
    record, single = row.record, not row.is_folded
    verdict, advice = judged.verdict(record), judged.advice(record)
    persistent = record.persistent.outcome.value if record.persistent is not None and single else None
    return {
        "number": (record.number, ""),
        "when": (_time(record.began), ""),
        "cell": (record.cell, _BETWEEN_CELLS),
        "line": (place_text(record) or None, _NO_LINE),
        "function": (row_title(row), ""),
        "signature": (signature_text(record) if single and record.signature else None, _signature_reason(row)),
        **{name.value: _stage(row, name) for name in StageName},
        "served_by": (", ".join(cache.value for cache in served_by(record)) if single else "", ""),
        "persistent": (persistent, _NOT_ASKED if single else "several programs share this row"),
        "effects": (None if record.effects is None else ", ".join(record.effects), _NO_TRACE),
        "outcome": (_outcome(row).value, ""),
        "cause": (verdict.cause.value if verdict.cause is not Cause.UNKNOWN else None, verdict.reason),
        "why": (judged.why(record), ""),
        "advice": (advice.sentence if advice else "", ""),
        "code": (advice.code if advice else "", ""),
        "asker": (record.asker.value, ""),
    }


def _signature_reason(row: HistoryRow) -> str:
    return "several programs share this row" if row.is_folded else _NO_CALL


def _stage(row: HistoryRow, name: StageName) -> tuple[float | None, str]:
    known = [seconds for record in row.records if (seconds := stage_seconds(record, name)) is not None]
    if known:
        return sum(known), ""
    has_run = any(record.stage(name) is not None for record in row.records)
    return None, _NOT_ENDED if has_run else _NOT_RUN


def _outcome(row: HistoryRow) -> RecordOutcome:
    outcomes = {outcome(record) for record in row.records}
    order = (
        RecordOutcome.FAILED,
        RecordOutcome.STOPPED,
        RecordOutcome.RUNNING,
        RecordOutcome.COMPILED,
        RecordOutcome.LOADED,
    )
    return next((worst for worst in order if worst in outcomes), outcome(row.record))


def _time(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).isoformat(" ", "milliseconds")


def by_function(judged: Judged) -> Table:
    """One row a function, the most expensive first; eager operations share one."""

    def key(record: CompileRecord) -> Hashable:
        if is_eager(record) or record.function is None:
            return record.asker, is_eager(record) or record.name
        return function_key(record)

    def titles(record: CompileRecord) -> dict[str, Any]:
        eager = is_eager(record)
        return {"function": "eager operations" if eager else unique_title(record), "line": place_text(record) or None}

    made = _grouped(judged, "compiles by function", key, titles)
    return made.sorted_by("own")


def by_cell(judged: Judged) -> Table:
    """One row a cell that ran."""

    def titles(record: CompileRecord) -> dict[str, Any]:
        return {"cell": record.cell}

    return _grouped(judged, "compiles by cell", lambda record: (record.asker, record.cell, record.run), titles)


_GROUP_DOCS = {
    "function": "The function.",
    "line": "The user's line that caused the first.",
    "cell": "Execution count of the cell that ran.",
    "compiles": "Programs that were traced, lowered or compiled.",
    "recompiles": "Those of functions that had been compiled before.",
    "own": "Their seconds, each counted once.",
    "wasted": "Seconds for programs that had been compiled before.",
    "avoidable": "Seconds that the user's code can avoid, for new programs and for those compiled before.",
    "asker": "Whose work it was.",
}
_GROUP_REASONS = {"cell": _BETWEEN_CELLS, "line": _NO_LINE}


def _grouped(
    judged: Judged,
    name: str,
    key: Callable[[CompileRecord], Hashable],
    titles: Callable[[CompileRecord], dict[str, Any]],
) -> Table:
    groups: dict[Hashable, list[CompileRecord]] = {}
    for record in judged.records:
        groups.setdefault(key(record), []).append(record)
    rows = [titles(part[0]) | _figures(judged, part) for part in groups.values()]
    names = list(rows[0]) if rows else ["compiles", "recompiles", "own", "wasted", "avoidable", "asker"]
    reasons = {(at, n): _GROUP_REASONS[n] for at, row in enumerate(rows) for n in names if row[n] is None}
    columns = {n: Column([row[n] for row in rows], _unit(n), _GROUP_DOCS[n], is_whole=n in _WHOLE) for n in names}
    return Table(name, columns, reasons)


def _figures(judged: Judged, part: Sequence[CompileRecord]) -> dict[str, Any]:
    return {
        "compiles": len(part),
        "recompiles": sum(map(judged.is_recompile, part)),
        "own": seconds(part),
        "wasted": seconds(record for record in part if judged.verdict(record).is_wasted),
        "avoidable": seconds(record for record in part if judged.verdict(record).can_be_mended),
        "asker": part[0].asker.value,
    }
