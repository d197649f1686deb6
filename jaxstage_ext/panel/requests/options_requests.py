"""The request of the options tab: what XLA was given, and all of its flags."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.program.head.summary import flag_table
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.compile_options_table import options
from jaxstage_ext.report.text.public_paths import public_json
from jaxstage_ext.report.unavailable import Unavailable

_COLUMNS = {"name": "option", "value": "value", "default": "default", "from": "from", "by": "set by", "note": "note"}


def _get_flags(programs: Programs, params: Params) -> Answer:
    program = given.program(programs, params)
    return {**flag_table(program), **public_json(_received(program))}, []


def _received(program: Program) -> dict[str, Any]:
    """What XLA was given where that is not its default; "unknown" says why that is not known, else it is empty."""
    try:
        table = options(program)
    except Unavailable as reason:
        return {"received": [], "unknown": str(reason), "rest": ""}
    rows = zip(*(table[column] for column in _COLUMNS.values()), strict=True)
    return {
        "received": [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
        "unknown": "",
        "rest": " ".join(table.notes),
    }


METHODS: dict[str, given.Method] = {"flags": _get_flags}
