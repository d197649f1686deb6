"""The rows of a history in words, the same in every still form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.history.history_rows import HistoryRow
from jaxstage_ext.compilation.records.compile_record import Asker, CacheOutcome, CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import place_text, row_title
from jaxstage_ext.compilation.records.record_outcome import (
    RecordOutcome,
    cache_words,
    outcome,
    served_by,
    stage_seconds,
)
from jaxstage_ext.compilation.records.signature_text import signature_text
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.terminal import clean
from jaxstage_ext.report.text.units import duration, plural

_LONGEST_COMPARISON = 0.01
"""Seconds that finding wasted compiles takes in a log of thousands."""
_LONGEST_CODE = 12
"""Lines of the code to write."""


class CompileLine(NamedTuple):
    """One row: every part is one clean line of text, "" where there is nothing to say; `code` is several.

    Attributes:
      seconds: the time of its stages, without what was compiled during them.   stages: the same by stage.
      caches: which caches of JAX spared it a stage, what the persistent one did, and whether calls of the function
        can never take the fast path.
      is_mendable: whether the user's code can avoid it.   is_failed: whether a stage raised an exception.
    """

    number: str
    line: str
    function: str
    signature: str
    seconds: str
    stages: tuple[str, str, str]
    caches: str
    why: str
    advice: str
    code: tuple[str, ...]
    is_mendable: bool
    is_failed: bool


def compile_line(history: History, row: HistoryRow) -> CompileLine:
    """A row of a history in words."""
    record = row.record
    advice, verdict = history.advice(record), history.verdict(record)
    ours = "[JAXStage] " if record.asker is Asker.JAXSTAGE else ""
    return CompileLine(
        number=str(record.number),
        line=clean(place_text(record)),
        function=ours + clean(row_title(row)),
        signature="" if row.is_folded else clean(signature_text(record)),
        seconds=_total(row),
        stages=(_stage(row, StageName.TRACE), _stage(row, StageName.LOWER), _stage(row, StageName.COMPILE)),
        caches="" if row.is_folded else ", ".join(_caches(record)),
        why=_said(_why(history, row)),
        advice=_said(advice.sentence) if advice else "",
        code=tuple(_said(line) for line in advice.code.splitlines()[:_LONGEST_CODE]) if advice else (),
        is_mendable=verdict.can_be_mended,
        is_failed=outcome(record) in (RecordOutcome.FAILED, RecordOutcome.STOPPED),
    )


def stages_text(line: CompileLine) -> str:
    """`trace 25 ms, lower 50 ms, compile 2 s; persistent cache`."""
    ran = [f"{name.value} {text}" for name, text in zip(StageName, line.stages, strict=True) if text]
    return "; ".join(filter(None, [", ".join(ran), line.caches]))


_headlines: WeakKeyDictionary[History, tuple[str, ...]] = WeakKeyDictionary()


def headline(history: History) -> tuple[str, ...]:
    """How much was compiled and what it took; JAXStage's own apart; what the log no longer holds.

    All forms of one history say the same, and count its records once.
    """
    known = _headlines.get(history)
    if known is None:
        known = tuple(_headline(history))
        if not any(outcome(record) is RecordOutcome.RUNNING for record in history.records):
            _headlines[history] = known
    return known


def _headline(history: History) -> Iterator[str]:
    users = history.only(lambda record: record.asker is Asker.USER)
    ours = history.only(lambda record: record.asker is Asker.JAXSTAGE)
    parts = [f"{_count(users)}, {_spent(users)}"]
    totals = users.totals_within(_LONGEST_COMPARISON)
    least = "" if totals.is_complete else "at least "
    if totals.avoidable:
        parts.append(f"{least}{duration(totals.avoidable)} of it avoidable")
    if totals.wasted:
        parts.append(f"{least}{duration(totals.wasted)} of it for programs that had been compiled before")
    if totals.saved is not None:
        parts.append(f"the persistent cache saved {duration(max(totals.saved, 0.0))}")
    yield "; ".join(parts)
    if ours.records:
        yield f"JAXStage's own work: {_count(ours)}, {_spent(ours)}"
    if history.dropped:
        yield f"{plural(history.dropped, 'older record')} left the log"


def _count(history: History) -> str:
    return plural(len(history.records), "record") if not _all_compiled(history) else plural(len(history), "compile")


def _all_compiled(history: History) -> bool:
    return all(record.stage(StageName.COMPILE) is not None for record in history.records)


def _spent(history: History) -> str:
    """Where the end of a stage was not heard, the sum is a lower bound."""
    open_ones = sum(outcome(record) is RecordOutcome.RUNNING for record in history.records)
    spent = duration(history.spent)
    return f"at least {spent} ({plural(open_ones, 'record')} without an end)" if open_ones else spent


def _said(text: str) -> str:
    return clean(public_folders(text))


def _total(row: HistoryRow) -> str:
    """The time of a call that JAX refused is that of none of its stages."""
    runs = [run for record in row.records for run in record.stages]
    if any(run.own_seconds is None for run in runs):
        return "unknown"
    return duration(row.own_seconds) if runs else "refused"


def _stage(row: HistoryRow, name: StageName) -> str:
    known = [seconds for record in row.records if (seconds := stage_seconds(record, name)) is not None]
    has_run = any(record.stage(name) is not None for record in row.records)
    return duration(sum(known)) if known else "unknown" if has_run else ""


def _caches(record: CompileRecord) -> Iterator[str]:
    if record.effects:
        yield f"never on the fast path: {', '.join(record.effects)} has effects, so every call goes through Python"
    for cache in served_by(record):
        yield f"{cache.value} hit"
    if record.persistent is not None and record.persistent.outcome not in (CacheOutcome.HIT, CacheOutcome.OFF):
        yield f"persistent cache: {cache_words(record.persistent.outcome)}"


def _why(history: History, row: HistoryRow) -> str:
    return "operations that ran outside jax.jit" if row.is_folded else _failed(row.record) or history.why(row.record)


def _failed(record: CompileRecord) -> str:
    if record.is_stopped:
        return f"{RecordOutcome.STOPPED.value}: {record.failed}"
    return f"failed: {record.failed}" if record.failed and record.refused is None else ""
