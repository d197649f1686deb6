"""The request of the collectives tab."""

from __future__ import annotations

from jaxstage_ext.panel import jobs, wire_form
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.program.questions.collectives import collectives, exchanges

_COLLECTIVES = {
    "collective": "collective",
    "line": "line",
    "time": "lower bound",
    "cause": "cause",
    "exposed": "exposed",
    "overlap": "overlap",
    "sent": "sent",
    "axes": "axes",
    "devices": "devices",
    "from": "from",
    "to": "to",
    "payload": "payload",
    "runs": "runs",
}
_CAUSES = ("cause", "from", "to")


def _get_collectives(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The table; where it is to be `quick`, without what the compiler has to be asked for."""
    program, quick = given.program(programs, params), bool(params.get("quick"))
    if not quick:
        progress("recompiling up to the partitioner")
    shown = exchanges(program) if quick else collectives(program, progress.heard)
    left_out = _CAUSES if quick else ()
    result, buffers = wire_form.packed_table(shown.table, {k: v for k, v in _COLLECTIVES.items() if k not in left_out})
    lists = {name: shown.table[name] for name in ("groups", "meanwhile", "instruction")} | {"exposed": shown.exposed}
    warnings = [{"text": str(one), "line": one.line} for one in shown.warnings]
    more = {"more": lists, "warnings": warnings, "notes": list(shown.notes), "headline": shown.headline}
    return result | more, buffers


METHODS: dict[str, given.Method] = {"collectives": jobs.slow(_get_collectives)}
