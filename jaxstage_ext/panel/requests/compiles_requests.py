"""The requests of the compiles tab: the list at once, then the causes, which take a comparison of each record."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.history import costliest
from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord
from jaxstage_ext.compilation.records.record_names import unique_title
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome, cache_words, outcome, served_by
from jaxstage_ext.compilation.records.signature_text import signature_text
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.params import Answer, Method, Params, Programs
from jaxstage_ext.panel.requests import compiles_record_requests
from jaxstage_ext.panel.requests.forms import compiles_columns
from jaxstage_ext.panel.requests.forms.compiles_params import costliest_first, history_program
from jaxstage_ext.panel.wire_form import packed
from jaxstage_ext.report.text.units import plural

if TYPE_CHECKING:
    from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram

MOST_ROWS = 20_000
CAN_BE_MENDED, IS_WASTED, IS_RECOMPILE = 1, 2, 4
"""Bits of `flags`."""
_MOST_CAUSES = 3
"""Causes of one function that the headline tells of."""
_STEP = 200
"""Records between two reports of progress."""


def _get_list(programs: Programs, params: Params) -> Answer:
    return listed(programs, params, MOST_ROWS)


def listed(programs: Programs, params: Params, most: int) -> Answer:
    """The list of at most so many records."""
    program = history_program(programs, params)
    records = costliest_first(program, most)
    result, buffers = compiles_columns.listed(records, {record.number for record in program.history.records})
    return result | {
        "left_out": len(program.records) - len(records),
        "dropped": program.history.dropped,
        "first": records[0].began if records else None,
        "scope": program.scope,
        "unfolded": program.is_unfolded,
        "can_refresh": program.can_refresh,
        "is_on": listening.is_on(),
    }, buffers


def _get_causes(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    return caused(programs, params, progress, MOST_ROWS, math.inf)


def caused(programs: Programs, params: Params, progress: jobs.JobProgress, most: int, seconds: float) -> Answer:
    """Why each of at most so many records came about, the totals, and what to look at first.

    The comparison takes at most so long, the longest compiles first; what was not compared by then is left out.
    """
    program = history_program(programs, params)
    records, history = costliest_first(program, most), program.history
    judged = _judged(history, (*history.records, *records), seconds, progress)
    progress("writing the causes")
    listed = [record for record in records if record.number in judged]
    result, buffers = _columns(history, listed)
    return result | {
        "totals": _totals(history, 0.0 if seconds < math.inf else seconds),
        "headline": _headline(history.only(lambda record: record.number in judged)),
    }, buffers


def _caused_within(most: int, seconds: float) -> jobs.SlowAnswer:
    return lambda programs, params, progress: caused(programs, params, progress, most, seconds)


def _judged(
    history: History, records: Sequence[CompileRecord], seconds: float, progress: jobs.JobProgress
) -> Mapping[int, CompileRecord]:
    """The records whose causes were found in that time, by number."""
    judged: dict[int, CompileRecord] = {}
    end, count = time.thread_time() + seconds, len({record.number for record in records})
    for record in sorted(records, key=lambda record: -record.own_seconds):
        if len(judged) % _STEP == 0:
            progress(f"comparing {len(judged):,} of {plural(count, 'compile')}")
        if time.thread_time() > end:
            break
        if record.number not in judged:
            history.verdict(record)
            judged[record.number] = record
    return judged


def _totals(history: History, seconds: float) -> dict[str, Any]:
    """Seconds of the user's own records in scope, where the comparison takes at most so long."""
    return dataclasses.asdict(history.totals_within(seconds))


def _columns(history: History, records: Sequence[CompileRecord]) -> Answer:
    verdicts = [history.verdict(record) for record in records]
    coded = compiles_columns.coded
    return packed(
        {
            "number": np.array([record.number for record in records], "<i4"),
            "nearest": np.array([verdict.nearest or -1 for verdict in verdicts], "<i4"),
            "flags": np.array([_flags(history, record) for record in records], "<i4"),
            "why": coded(_why(history, record) for record in records),
            "cause": coded(verdict.cause.value for verdict in verdicts),
            "signature": coded(map(signature_text, records)),
            "caches": coded(", ".join(cache.value for cache in served_by(record)) for record in records),
            "persistent": coded(
                cache_words(record.persistent.outcome) if record.persistent else "" for record in records
            ),
        }
    )


def _flags(history: History, record: CompileRecord) -> int:
    verdict = history.verdict(record)
    return (
        CAN_BE_MENDED * verdict.can_be_mended
        | IS_WASTED * verdict.is_wasted
        | IS_RECOMPILE * history.is_recompile(record)
    )


def _why(history: History, record: CompileRecord) -> str:
    if record.is_stopped:
        return f"{RecordOutcome.STOPPED.value}: {record.failed}"
    return f"failed: {record.failed}" if record.failed else history.why(record)


def _headline(history: History) -> dict[str, Any] | None:
    """The function whose recompiles cost the most; None where nothing recompiled."""
    found = costliest.costliest(history)
    if found is None:
        return None
    return {
        "number": found.record.number,
        "function": unique_title(found.record),
        "times": len(found.records),
        "loaded": _loaded(found.records),
        "seconds": found.seconds,
        "mendable": found.can_be_mended,
        "causes": [_of_cause(history, part) for part in found.causes[:_MOST_CAUSES]],
        "causes_in_all": len(found.causes),
    }


def _of_cause(history: History, part: costliest.RecompilesOfCause) -> dict[str, Any]:
    """The recompiles of one cause, with why and what to do of the most expensive."""
    advice = history.advice(part.record)
    return {
        "number": part.record.number,
        "times": len(part.records),
        "loaded": _loaded(part.records),
        "seconds": part.seconds,
        "why": history.why(part.record),
        "advice": advice.sentence if advice else "",
    }


def _loaded(records: Sequence[CompileRecord]) -> int:
    """How many of them came from the persistent cache."""
    return sum(outcome(record) is RecordOutcome.LOADED for record in records)


def _refresh(programs: Programs, params: Params) -> Answer:
    """Take the history anew; the list and the causes are asked for after it."""
    return {"new": history_program(programs, params).refresh()}, []


def saved_requests(
    program: CompileHistoryProgram, rows: int, details: int, seconds: float
) -> Iterator[tuple[str, Params, Method]]:
    """What a saved report answers: the lists of so many records, and the details of those most worth a look."""
    yield "compiles", {}, lambda programs, params: listed(programs, params, rows)
    yield "compiles_causes", {}, jobs.slow(_caused_within(rows, seconds))
    for record in _worth_a_look(program, details):
        yield "compile_record", {"number": record.number}, compiles_record_requests.METHODS["compile_record"]


def _worth_a_look(program: CompileHistoryProgram, most: int) -> Sequence[CompileRecord]:
    """What took longest, the user's own first."""
    return sorted(program.history.records, key=lambda one: (one.asker is not Asker.USER, -one.own_seconds))[:most]


METHODS: dict[str, Method] = {
    "compiles": _get_list,
    "compiles_causes": jobs.slow(_get_causes),
    "compiles_refresh": _refresh,
    **compiles_record_requests.METHODS,
}
