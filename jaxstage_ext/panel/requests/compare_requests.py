"""Compare: the lines in which the stages of two of a call's programs differ."""

from __future__ import annotations

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.params import Answer, Method, Params, Programs, integer, program
from jaxstage_ext.panel.requests.forms.difference_form import difference_form


def _difference(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """From the program in row `before` of the table to that in row `after`; nothing is compiled."""
    rows = list(program(programs, params).targets.values())
    before, after = (rows[integer(params, name, 0, len(rows) - 1)] for name in ("before", "after"))
    progress("comparing")
    return difference_form(before, after), []


METHODS: dict[str, Method] = {"difference": jobs.slow(_difference)}
