"""The request of the tab of the persistent cache: what is known of it, and its entries."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel.params import Answer, Method, Params, Programs
from jaxstage_ext.panel.requests import compile_cache_entry_requests
from jaxstage_ext.panel.requests.compile_cache_entry_requests import cache_program
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.public_paths import public_json

if TYPE_CHECKING:
    from jaxstage_ext.compilation.persistent.cache_report import CacheReport
    from jaxstage_ext.program.kinds.session_view import CompileCacheProgram

MOST_ROWS = 20_000
_TITLES = {
    "program": "program",
    "size": "size",
    "written": "written",
    "compile": "compile",
    "last_hit": "last hit",
    "state": "state",
    "devices": "devices",
    "jaxlib": "jaxlib",
    "key": "key",
}


def _get_cache(programs: Programs, params: Params) -> Answer:
    answer, buffers = listed(programs, params, MOST_ROWS)
    state = cache_program(programs, params).report.state
    return answer | {"folder": state.folder, "set_folder": state.set_folder}, buffers


def listed(programs: Programs, params: Params, most: int) -> Answer:
    """What is known of the cache, and at most so many entries, newest first."""
    from jaxstage_ext.compilation.persistent import cache_advice, cache_wording  # they import JAX

    report = cache_program(programs, params).report
    table = _shown_table(report)
    result, buffers = wire_form.packed_table(table.take(range(min(len(table), most))), _TITLES)
    return result | {
        "headline": cache_wording.headline(report),
        "warnings": cache_wording.warnings(report),
        "sentences": cache_wording.sentences(report),
        "advice": [[each.sentence, each.code] for each in cache_advice.advice(report)],
        "left_out": max(0, len(table) - most),
    }, buffers


def _publicly_listed(programs: Programs, params: Params, most: int) -> Answer:
    """The same, its folders shortened, as what is saved may go to others."""
    answer, buffers = listed(programs, params, most)
    shortened = {name: public_json(answer[name]) for name in ("headline", "warnings")}
    return answer | shortened, buffers


def _shown_table(report: CacheReport) -> Table:
    """The table with the states and last hits in the words of the still forms."""
    from jaxstage_ext.compilation.persistent.cache_report import hit_word, how_to_verify, state_word  # it imports JAX

    table, entries = report.table(), report.entries
    hits = [hit_word(each) for each in entries]
    states = [state_word(each) or "not checked" for each in entries]
    shown = {
        "last_hit": Column(hits, doc="When it was read last."),
        "state": Column(states, doc=f"As far as it is known; {how_to_verify()}."),
    }
    known = {(row, "last_hit") for row, hit in enumerate(hits) if hit} | {(row, "state") for row in range(len(states))}
    reasons = {place: why for place, why in table.reasons.items() if place not in known}
    return Table(table.name, {**table.columns, **shown}, reasons)


def _get_misses(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Why the misses missed, which takes a comparison of each key."""
    from jaxstage_ext.compilation.persistent import cache_wording  # it imports JAX

    report = cache_program(programs, params).report
    return {"words": cache_wording.causes_words(report.misses()) if report.state.folder else ""}, []


def _refresh(programs: Programs, params: Params) -> Answer:
    """Read the cache anew; the list is asked for after it."""
    return {"new": cache_program(programs, params).refresh()}, []


def saved_requests(
    program: CompileCacheProgram, rows: int, details: int, seconds: float
) -> Iterator[tuple[str, Params, Method]]:
    """What a saved report answers: so many entries."""
    yield "compile_cache", {}, functools.partial(_publicly_listed, most=rows)
    yield "compile_cache_misses", {}, METHODS["compile_cache_misses"]


METHODS: dict[str, Method] = {
    "compile_cache": _get_cache,
    "compile_cache_misses": jobs.slow(_get_misses),
    "compile_cache_refresh": _refresh,
    **compile_cache_entry_requests.METHODS,
}
