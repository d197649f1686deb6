"""The requests of the layouts tab: one for each of its tables."""

from __future__ import annotations

from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.program.questions.layouts import layouts

_VALUES = ("value", "kind", "type", "layout", "in words", "memory", "chosen by")
_COPIES = ("instruction", "type", "changes", "from layout", "to layout", "bytes", "line")


def _get_values(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    table = layouts(given.program(programs, params)).values
    return wire_form.packed_table(table, {name: name for name in _VALUES})


def _get_copies(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    table = layouts(given.program(programs, params)).copies
    result, buffers = wire_form.packed_table(table, {name: name for name in _COPIES})
    return result | {"notes": list(table.notes)}, buffers


METHODS: dict[str, given.Method] = {
    "layouts": jobs.slow(_get_values),
    "layout_copies": jobs.slow(_get_copies),
}
