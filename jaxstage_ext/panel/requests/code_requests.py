"""What the code view asks for to show beside its lines: shardings, dtypes, and what is warned of."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxstage_ext.analysis.margin.line_values import Lane, Mark
from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Params, Programs
from jaxstage_ext.program.questions.collectives import collectives, count
from jaxstage_ext.program.source import margin
from jaxstage_ext.report.numbering import Numbering

MOST_TEXT, MOST_WARNINGS, MOST_PLACES = 4000, 1000, 4


def _get_lane(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    name = given.text(params, "lane")
    if name not in margin.LANES:
        raise BadRequest(f"there is no lane {given.quoted(name)}; there is {', '.join(margin.LANES)}")
    program = given.program(programs, params)
    if name == "sharding":
        progress("recompiling up to the partitioner")
    lane = margin.LANES[name](program, progress.heard)
    return packed(lane)


def packed(lane: Lane) -> Answer:
    """The marks once each, and for each document the columns "<kind> row" and "<kind> mark", a mark's number."""
    number = Numbering[Mark]()
    columns = {}
    for kind, marks in lane.marks.items():
        columns[f"{kind} row"] = np.array(list(marks), np.int64)
        columns[f"{kind} mark"] = np.array([number[mark] for mark in marks.values()], np.int64)
    result, buffers = wire_form.packed(columns)
    marks_sent = [[mark.label, mark.kind, mark.text[:MOST_TEXT]] for mark in number]
    return result | {"marks": marks_sent, "notes": list(lane.notes)}, buffers


def _get_warnings(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    program = given.program(programs, params)
    if not collectives.is_known(program):
        progress("Recompiling up to the partitioner to trace the collectives")
    lane, warnings, places = margin.warnings(program, progress.heard)
    warned: list[dict[str, Any]] = [
        {
            "kind": warning.kind,
            "text": warning.text[:MOST_TEXT],
            "places": [list(place) for place in where[:MOST_PLACES]],
        }
        for warning, where in zip(warnings, places, strict=True)
    ][:MOST_WARNINGS]
    result, buffers = packed(lane)
    return result | {"warnings": warned, "total": len(warnings)}, buffers


def _get_exchanges(programs: Programs, params: Params) -> Answer:
    program = given.program(programs, params)
    return {"collectives": count(program), "known": collectives.is_known(program)}, []


METHODS: dict[str, given.Method] = {
    "lane": jobs.slow(_get_lane),
    "warnings": jobs.slow(_get_warnings),
    "exchanges": _get_exchanges,
}
