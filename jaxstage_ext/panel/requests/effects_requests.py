"""The request of the effects tab."""

from __future__ import annotations

from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.program.behaviour.effects import effects

_COLUMNS = ("operation", "what", "effect", "runs", "not with", "line")


def _get_effects(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    table = effects(given.program(programs, params))
    result, buffers = wire_form.packed_table(table, {name: name for name in _COLUMNS})
    return result | {"notes": list(table.notes)}, buffers


METHODS: dict[str, given.Method] = {"effects": jobs.slow(_get_effects)}
