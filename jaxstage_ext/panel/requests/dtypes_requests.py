"""The request of the dtypes tab."""

from __future__ import annotations

from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.program.questions.dtypes import dtypes

_DTYPES = {
    "stage": "stage",
    "from": "from",
    "to": "to",
    "kind": "kind",
    "shape": "shape",
    "grows": "grows",
    "infects": "infects",
    "infected": "infected",
    "because of": "because of",
    "written": "written",
    "runs": "runs",
    "by": "by",
    "for": "for",
    "line": "line",
}


def _get_dtypes(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    conversions = dtypes(given.program(programs, params))
    result, buffers = wire_form.packed_table(conversions.table, _DTYPES)
    return result | {"headline": conversions.headline}, buffers


METHODS: dict[str, given.Method] = {"dtypes": jobs.slow(_get_dtypes)}
