"""The request of the options tab."""

from __future__ import annotations

from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.program.summary import flag_table


def _get_flags(programs: Programs, params: Params) -> Answer:
    return flag_table(given.program(programs, params)), []


METHODS: dict[str, given.Method] = {"flags": _get_flags}
