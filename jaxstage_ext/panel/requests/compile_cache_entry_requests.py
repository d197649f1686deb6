"""One entry of the persistent cache: its key, its file, how its key differs from the nearest, who asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, ErrorKind, Method, Params, Programs

if TYPE_CHECKING:
    from jaxstage_ext.compilation.persistent.cache_entries import CacheEntry
    from jaxstage_ext.compilation.persistent.missed_entry import MissedEntry
    from jaxstage_ext.program.kinds.session_view import CompileCacheProgram

MOST_RECORDS, MOST_WORDS, MOST_LINES, LONGEST = 20, 60, 200, 600
_NOT_RECORDED = "unknown (JAXStage was not loaded when it was written)"


def cache_program(programs: Programs, params: Params) -> CompileCacheProgram:
    """The program that is asked about. Raises BadRequest where it is not a report of the persistent cache."""
    program = given.program(programs, params)
    if program.tab != "compile_cache":
        raise BadRequest("this is not a report of the persistent cache", ErrorKind.ABSENT)
    return cast("CompileCacheProgram", program)


def _get_entry(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    from jaxstage_ext.compilation.persistent import (
        cache_wording,
        miss_causes,  # they import JAX
    )

    program, key = cache_program(programs, params), given.text(params, "key")
    entry = next((each for each in program.report.entries if each.key == key), None)
    if entry is None:
        raise BadRequest(f"there is no entry {given.quoted(key)} in this list; refresh it", ErrorKind.ABSENT)
    folder = program.report.state.folder
    missed = _missed(entry, folder)
    words = cache_wording.missed_words(missed) if missed else [_NOT_RECORDED]
    diff = [line for each in missed.differences for line in each.diff] if missed else []
    records = miss_causes.records_of_key(folder, key)[-MOST_RECORDS:]
    return {
        "key": key,
        "facts": _facts(entry),
        "missed": [said[:LONGEST] for said in words[:MOST_WORDS]],
        "diff": [line[:LONGEST] for line in diff[:MOST_LINES]],
        "records": [f"#{each.number} {each.persistent.outcome.value}" for each in records if each.persistent],
    }, []


def _missed(entry: CacheEntry, folder: str) -> MissedEntry | None:
    from jaxstage_ext.compilation.persistent import missed_entry  # it imports JAX

    if entry.record is None:
        return None
    try:
        return missed_entry.nearest_to(entry.record, folder, entry.record.written)
    except (OSError, ValueError) as error:
        return missed_entry.MissedEntry(reason=f"the records cannot be read: {error}")


def _facts(entry: CacheEntry) -> list[list[Any]]:
    from jaxstage_ext.compilation.persistent.cache_report import how_to_verify, moment, state_word  # it imports JAX
    from jaxstage_ext.report.text.units import duration, scaled

    record = entry.record
    seconds = record.seconds if record else None
    return [
        ["written", moment(entry.written)],
        ["size", scaled(entry.bytes, "B")],
        ["compile", _NOT_RECORDED if seconds is None else duration(seconds)],
        ["last hit", _hit(entry)],
        ["state", state_word(entry) or f"not checked ({how_to_verify()})"],
        ["devices", record.devices if record else _NOT_RECORDED],
        ["jaxlib", record.jaxlib if record else _NOT_RECORDED],
    ]


def _hit(entry: CacheEntry) -> str:
    from jaxstage_ext.compilation.persistent.cache_report import hit_word, moment  # it imports JAX

    time = f", {moment(entry.last_hit)}" if entry.was_hit_here and entry.last_hit else ""
    return f"{hit_word(entry) or 'unknown'}{time}"


METHODS: dict[str, Method] = {"compile_cache_entry": jobs.slow(_get_entry)}
