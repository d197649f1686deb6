"""Why a process of a job has compiled, as plain data that the notebook's kernel asks for."""

from __future__ import annotations

from jaxstage_ext.compilation.history.history import History, history
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome, cache_words, outcome
from jaxstage_ext.processes.compile_row_form import CompileDetails
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.shortened import shortened
from jaxstage_ext.report.text.terminal import clean
from jaxstage_ext.report.text.units import duration

_MOST, _LONGEST, _LONGEST_CODE = 20, 600, 4000


def compile_cause(number: int) -> CompileDetails | None:
    """Why the record of that number came about, by the comparison with those before it; None where it is not kept."""
    whole = history()
    record = next((one for one in whole.records if one.number == number), None)
    return None if record is None else _details(whole, record)


def _details(whole: History, record: CompileRecord) -> CompileDetails:
    verdict, advice = whole.verdict(record), whole.advice(record)
    differences = [
        [each.cause.value, *map(_said, (each.what, each.before, each.now))]
        for each in verdict.differences
        if each.before or each.now
    ]
    return CompileDetails(
        why=_said(_why(whole, record)),
        advice=_said(advice.sentence) if advice else "",
        code="\n".join(map(clean, advice.code[:_LONGEST_CODE].splitlines())) if advice else "",
        differences=differences[:_MOST],
        facts=[[name, _said(words)] for name, words in _facts(record) if words],
    )


def _why(whole: History, record: CompileRecord) -> str:
    if record.is_stopped:
        return f"{RecordOutcome.STOPPED.value}: {record.failed}"
    return f"failed: {record.failed}" if record.failed else whole.why(record)


def _facts(record: CompileRecord) -> list[tuple[str, str]]:
    stages = [(run.stage.value, duration(run.own_seconds)) for run in record.stages if run.own_seconds is not None]
    persistent = record.persistent
    cache = "" if persistent is None else cache_words(persistent.outcome)
    return [("outcome", outcome(record).value), *stages, ("persistent cache", cache), ("entry", record.entry.value)]


def _said(text: str) -> str:
    return shortened(clean(public_folders(text)), _LONGEST)
