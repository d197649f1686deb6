"""A program that the compiler refuses because it does not fit."""

from __future__ import annotations

from jaxstage_ext.program.device import out_of_memory
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError


def explanation(program: Program, error: StageError) -> str | None:
    """How much it needs, and where its buffers are listed; None for another error."""
    if not out_of_memory.is_out_of_memory(error.exception) or program.executable is not None:
        return None
    return f"{device_fit(program).text} {out_of_memory.LISTED}"
