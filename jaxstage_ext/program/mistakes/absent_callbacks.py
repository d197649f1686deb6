"""Callbacks into Python in a program for a device that is not in this machine."""

from __future__ import annotations

from jaxstage_ext.program.effects import callback_lines
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError

_REFUSED = "the program calls back into Python"
_MOST_NAMED = 3


def explanation(program: Program, error: StageError) -> str | None:
    """Which lines call back, and that JAX lowers them for its own devices alone; None for another error."""
    if not error.message.startswith(_REFUSED) or not (lines := callback_lines(program)):
        return None
    named = f"{', '.join(lines[:_MOST_NAMED])}{', …' if len(lines) > _MOST_NAMED else ''}"
    return (
        f"Callbacks into Python ({named}) are lowered only for this machine's own devices, not for {program.target}. "
        "Leave them out, or use cpu:N."
    )
