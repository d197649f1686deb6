"""One compile: why, what to do, its stages and caches, where it came from; and what is opened from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxstage_ext.compilation.causes.cause import Cause, Difference, Verdict
from jaxstage_ext.compilation.history.history_rows import line_of
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, CompileRecord, Place, StageRun
from jaxstage_ext.compilation.records.record_names import function_title, line_text, place_text
from jaxstage_ext.compilation.records.record_outcome import cache_words, outcome, served_by
from jaxstage_ext.compilation.records.signature_text import signature_text
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.params import Answer, Method, Params, Programs, with_opened
from jaxstage_ext.panel.requests.document_requests import file_form
from jaxstage_ext.panel.requests.forms.compiles_params import history_program, numbered
from jaxstage_ext.panel.requests.forms.difference_form import difference_form
from jaxstage_ext.report.text.bounded_repr import plain_repr
from jaxstage_ext.report.text.shortened import shortened

if TYPE_CHECKING:
    from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram
    from jaxstage_ext.program.program import Program

MOST_DIFFERENCES, MOST_INSIDE, MOST_OPTIONS = 60, 20, 40
LONGEST, LONGEST_CODE = 600, 4000


def _get_record(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    program = history_program(programs, params)
    return described(program, numbered(program, params)), []


def described(program: CompileHistoryProgram, record: CompileRecord) -> dict[str, Any]:
    """All that is known of a record, as texts and numbers."""
    history = program.history
    verdict, advice = history.verdict(record), history.advice(record)
    nearest = _nearest(program, verdict)
    differences = [each for each in verdict.differences if each.before or each.now]
    inside = [other.number for other in program.records if other.parent == record.number]
    return {
        "number": record.number,
        "function": _cut(function_title(record)),
        "signature": _cut(signature_text(record), LONGEST_CODE),
        "why": _cut(history.why(record)),
        "reason": _cut(verdict.reason) if verdict.cause is Cause.UNKNOWN else "",
        "differences": [_difference(each) for each in differences[:MOST_DIFFERENCES]],
        "more_differences": max(0, len(differences) - MOST_DIFFERENCES),
        "not_opened": _not_opened(program, record),
        "nearest": None if nearest is None else _precedent(program, nearest),
        "advice": _cut(advice.sentence) if advice else "",
        "code": _cut(advice.code, LONGEST_CODE) if advice else "",
        "stages": [_stage(run) for run in record.stages],
        "caches": [cache.value for cache in served_by(record)],
        "outcome": outcome(record).value,
        "failed": _cut(record.failed or ""),
        "persistent": _persistent(record),
        "call_site": _line(record.call_site),
        "user_line": _line(record.user_line),
        "entry": record.entry.value,
        "asker": record.asker.value,
        "parent": record.parent,
        "inside": inside[:MOST_INSIDE],
        "more_inside": max(0, len(inside) - MOST_INSIDE),
        "options": [[str(name)[:100], plain_repr(value)] for name, value in record.compiler_options[:MOST_OPTIONS]],
    }


def _precedent(program: CompileHistoryProgram, nearest: CompileRecord) -> dict[str, Any]:
    return {"number": nearest.number, "line": place_text(nearest), "not_opened": _not_opened(program, nearest)}


def _not_opened(program: CompileHistoryProgram, record: CompileRecord) -> str:
    """Why the record cannot be opened now; "" where it can."""
    from jaxstage_ext.program.kinds.logged_program import why_not_opened  # it imports JAX

    return "" if program.has_opened(record.number) else _cut(why_not_opened(record))


def _nearest(program: CompileHistoryProgram, verdict: Verdict) -> CompileRecord | None:
    return next((record for record in program.records if record.number == verdict.nearest), None)


def _difference(each: Difference) -> dict[str, str]:
    return {"kind": each.cause.value, "what": _cut(each.what), "before": _cut(each.before), "now": _cut(each.now)}


def _stage(run: StageRun) -> dict[str, Any]:
    return {
        "name": run.stage.value,
        "seconds": run.seconds,
        "own": run.own_seconds,
        "cached": run.was_cached,
        "failed": _cut(run.failed or ""),
    }


def _persistent(record: CompileRecord) -> dict[str, Any] | None:
    facts = record.persistent
    if facts is None:
        return None
    missed, diff = _missed(record) if facts.folder and facts.outcome is not CacheOutcome.HIT else ([], [])
    return {
        "outcome": cache_words(facts.outcome),
        "key": _cut(facts.key),
        "folder": _cut(facts.folder),
        "read": facts.read_seconds,
        "saved": facts.saved_seconds,
        "check": facts.check,
        "reason": _cut(facts.reason),
        "missed": [_cut(said) for said in missed[:MOST_DIFFERENCES]],
        "diff": [_cut(line, 200) for line in diff[:MOST_DIFFERENCES]],
    }


def _missed(record: CompileRecord) -> tuple[list[str], list[str]]:
    """How its key differs from that of the nearest entry: in sentences, and as lines of StableHLO."""
    from jaxstage_ext.compilation.persistent import cache_wording, missed_entry  # they import JAX

    missed = missed_entry.explain(record)
    return cache_wording.missed_words(missed), [line for each in missed.differences for line in each.diff]


def _line(place: Place | None) -> dict[str, str] | None:
    if place is None:
        return None
    return {"text": _cut(line_text(place)), "function": "" if place.function == "<module>" else _cut(place.function)}


def _cut(text: str, most: int = LONGEST) -> str:
    return shortened(text, most)


def _open(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Open a record as a further call of the panel; nothing is compiled. The reply says which call it is."""
    program = history_program(programs, params)
    progress("opening")
    return {"call": _place(programs, program, program.open(numbered(program, params).number))}, []


def _place(programs: Programs, program: CompileHistoryProgram, opened: Program) -> int:
    """Which call of the panel a program is that was opened, with which the panel shows it."""
    if all(opened is not one for one in program.opened):
        program.opened.append(opened)
    return next(at for at, one in enumerate(with_opened(programs)) if one is opened)


def _compare(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The lines in which what JAX made of two records differs; nothing is compiled."""
    program = history_program(programs, params)
    record, other = numbered(program, params), numbered(program, params, "other")
    progress("reading both")
    before, after = program.open(other.number), program.open(record.number)
    progress("comparing")
    return {"number": record.number, "other": other.number, **difference_form(before, after)}, []


def _get_place(programs: Programs, params: Params) -> Answer:
    """Where the line of a record is open: in which cells or file, for the page to mark it there; none where unknown."""
    place = line_of(numbered(history_program(programs, params), params))
    if place is None:
        return {"file": None, "line": 0}, []
    return {"file": file_form(FrameTable().source(place.file)), "line": place.line}, []


METHODS: dict[str, Method] = {
    "compile_record": jobs.slow(_get_record),
    "compile_place": _get_place,
    "compile_open": jobs.slow(_open, of_panel=True),
    "compile_compare": jobs.slow(_compare),
}
