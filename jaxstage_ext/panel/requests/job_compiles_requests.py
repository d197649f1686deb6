"""The requests of the tab of all processes' compiles: what is said of them, the programs, the records, one of these."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, ErrorKind, Method, Params, Programs
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.public_paths import public_json

if TYPE_CHECKING:
    from jaxstage_ext.program.kinds.job_compiles_program import JobCompilesProgram

MOST_ROWS, MOST_PROGRAMS, MOST_PROCESSES = 20_000, 5_000, 4_096
_LARGEST_NUMBER = 2**31 - 1
_RECORDS = {
    "process": "process",
    "number": "#",
    "program": "program",
    "line": "line",
    "compile": "compile",
    "outcome": "outcome",
    "trace": "trace",
    "lower": "lower",
    "when": "when",
    "processes": "runs on",
    "caches": "caches",
}
_PROGRAMS = {
    "program": "program",
    "line": "line",
    "processes": "runs on",
    "wait": "wait",
    "slowest": "slowest",
    "seconds": "seconds",
    "persistent cache": "persistent cache",
    "cache keys differ in": "cache keys differ in",
}
_OF_CACHE = ("persistent cache", "cache keys differ in")


def job_program(programs: Programs, params: Params) -> JobCompilesProgram:
    """The program that is asked about. Raises BadRequest where it is not the compiles of several processes."""
    program = given.program(programs, params)
    if program.tab != "job_compiles":
        raise BadRequest("these are not the compiles of several processes", ErrorKind.ABSENT)
    return cast("JobCompilesProgram", program)


def listed(programs: Programs, params: Params, most: int) -> Answer:
    """What is said of all processes, and at most so many records, the newest where there are more."""
    program = job_program(programs, params)
    table = program.records()
    eager = np.array(program.is_eager(), np.int32)
    shown = range(max(0, len(table) - most), len(table))
    more = {"eager": Column(eager), "when": _when(table)}
    with_eager = Table(table.name, {**table.columns, **more}, table.reasons).take(shown)
    result, buffers = wire_form.packed_table(with_eager, _RECORDS, beside=("eager",))
    return result | {
        "sentences": list(program.said),
        "processes": program.answered[:MOST_PROCESSES],
        "missing": [[process, why] for process, why in program.unanswered.items()][:MOST_PROCESSES],
        "can_refresh": program.can_refresh,
        "left_out": len(table) - len(shown),
    }, buffers


def _when(table: Table) -> Column:
    """The moments, without the day where all are of one."""
    moments = [str(moment) for moment in table["when"]]
    days = {moment.partition(" ")[0] for moment in moments}
    short = [moment.partition(" ")[2] for moment in moments] if len(days) == 1 else moments
    return Column(short, doc=table.columns["when"].doc)


def _get_records(programs: Programs, params: Params) -> Answer:
    return listed(programs, params, MOST_ROWS)


def _get_programs(programs: Programs, params: Params) -> Answer:
    """The programs of several processes."""
    program = job_program(programs, params)
    table = program.by_program()
    titles = {name: title for name, title in _PROGRAMS.items() if program.uses_cache or name not in _OF_CACHE}
    return wire_form.packed_table(table.take(range(min(len(table), MOST_PROGRAMS))), titles)


def _get_record(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Why one was compiled, which its process is asked."""
    process = given.integer(params, "process", 0, _LARGEST_NUMBER)
    number = given.integer(params, "number", 1, _LARGEST_NUMBER)
    progress(f"asking process {process}")
    told: dict[str, Any] = dict(job_program(programs, params).details(process, number))
    return told, []


def _refresh(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Ask all processes anew; the records and the programs are asked for after it."""
    progress("asking the processes")
    return {"new": job_program(programs, params).refresh()}, []


def _publicly(answered: Method, programs: Programs, params: Params) -> Answer:
    """The same with shortened folders, as what is saved may go to others."""
    answer, buffers = jobs.answered_at_once(answered, programs, params)
    return answer | {name: public_json(answer[name]) for name in ("sentences", "missing") if name in answer}, buffers


def saved_requests(
    program: JobCompilesProgram, rows: int, details: int, seconds: float
) -> Iterator[tuple[str, Params, Method]]:
    """What a saved report answers: so many records, and the programs."""
    yield "job_compiles", {}, functools.partial(_publicly, functools.partial(listed, most=rows))
    yield "job_compiles_programs", {}, _get_programs


METHODS: dict[str, Method] = {
    "job_compiles": _get_records,
    "job_compiles_programs": _get_programs,
    "job_compiles_record": jobs.slow(_get_record),
    "job_compiles_refresh": jobs.slow(_refresh),
}
