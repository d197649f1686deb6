"""The request of the dimensions tab: the named dimensions, the axes of arguments, and what splitting each costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension
from jaxstage_ext.analysis.sharding.naming.dimension_tables import Dimensions
from jaxstage_ext.analysis.sharding.naming.split_alone import SplitCost, divisors_text
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.panel.wire_form import packed
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.named_dimensions import axes_in_jaxpr, dimensions

MOST_ARGUMENTS, MOST_DIMENSIONS, MOST_COLLECTIVES = 300, 300, 100


def _get_dimensions(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """With `quick` without the costs, which take a partition each, unless they are known."""
    program = given.program(programs, params)
    found = dimensions(program, progress.heard, not params.get("quick"))
    rows, (columns, buffers) = _arguments(found), _axes_in_jaxpr(program)
    return columns | {
        "headline": found.headline,
        "dimensions": [_dimension(found, at) for at in range(min(len(found), MOST_DIMENSIONS))],
        "arguments": rows[:MOST_ARGUMENTS],
        "more": max(len(rows) - MOST_ARGUMENTS, 0),
        "notes": list(found.notes),
    }, buffers


def _axes_in_jaxpr(program: Program) -> Answer:
    """A row for each size in the jaxpr whose dimension is known: its line, its characters there, the dimension."""
    found = [one for one in axes_in_jaxpr(program) if one.place < MOST_DIMENSIONS]
    names = ("row", "start", "end", "place")
    return packed({name: np.array([getattr(one, name) for one in found], np.int32) for name in names})


def _dimension(found: Dimensions, at: int) -> dict[str, Any]:
    one: NamedDimension = found.named[at]
    cost = found.cost(one)
    return {
        "name": one.name,
        "number": one.number,
        "size": one.size,
        "splits": divisors_text(one.size),
        "devices": cost.devices,
        "sent": cost.sent,
        "why": cost.why_unknown,
        "collectives": _collectives(cost),
        "meets": [other for other in found.met[at] if other < MOST_DIMENSIONS],
        "lines": found.lines(one),
        "about": found.about(one),
    }


def _collectives(cost: SplitCost) -> list[dict[str, Any]]:
    return [
        {"count": each.count, "kind": each.kind, "sent": each.sent, "runs": each.runs, "line": each.line}
        for each in cost.collectives[:MOST_COLLECTIVES]
    ]


def _arguments(found: Dimensions) -> list[dict[str, Any]]:
    """The arguments in order, those that are alike once."""
    return [
        {
            "name": found.arguments[number].name,
            "shape": list(found.arguments[number].shape),
            "axes": list(found.axes[number]),
            "alike": count,
        }
        for number, count in found.alike
    ]


METHODS: dict[str, given.Method] = {"dimensions": jobs.slow(_get_dimensions)}
