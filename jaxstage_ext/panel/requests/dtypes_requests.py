"""The request of the dtypes tab."""

from __future__ import annotations

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.panel.requests.forms import table_form
from jaxstage_ext.program.questions.dtypes import dtypes

_DTYPES = {
    "stage": "stage",
    "from": "from",
    "to": "to",
    "kind": "kind",
    "shape": "shape",
    "grows": "grows",
    "written": "written",
    "runs": "runs",
    "by": "by",
    "for": "for",
    "line": "line",
}


def _get_dtypes(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    conversions = dtypes(given.program(programs, params))
    result, buffers = table_form.packed(conversions.table, _DTYPES)
    return result | {"headline": conversions.headline}, [*buffers, table_form.whole(conversions.table["row"])]


METHODS: dict[str, given.Method] = {"dtypes": jobs.slow(_get_dtypes)}
