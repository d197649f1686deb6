"""Callbacks into Python in a program for a device that is not in this machine."""

from __future__ import annotations

from collections.abc import Iterable

from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.effects import callback_checks, callback_lines
from jaxstage_ext.report.errors import StageError

_REFUSED = "the program calls back into Python"
_MOST_NAMED = 3
_CHECKS_OFF = "set the environment variable EQX_ON_ERROR=nan before equinox is imported"


def explanation(program: Program, error: StageError) -> str | None:
    """Which lines call back, that JAX lowers them for its own devices alone, and what to do; None for another error."""
    if not error.message.startswith(_REFUSED) or not (lines := callback_lines(program)):
        return None
    return (
        f"Callbacks into Python ({_named(lines)}) are lowered only for this machine's own devices, not for "
        f"{program.target}. {_advice(program)}"
    )


def _advice(program: Program) -> str:
    checks = callback_checks(program)
    of_library = [check for _, check in checks if check is not None]
    own = dict.fromkeys(line for line, check in checks if check is None and line)
    if not of_library:
        return "Leave them out, or use cpu:N."
    leave = _CHECKS_OFF
    solvers = dict.fromkeys(check.solver for check in of_library)
    if "" not in solvers:
        leave = f"call {' and '.join(solvers)} with throw=False, or {leave}"
    if not own:
        return f"They are checks of equinox's: {leave}, or use cpu:N."
    there = dict.fromkeys(line for line, check in checks if check is not None)
    return f"Leave out {_named(own)}; those at {_named(there)} are checks of equinox's: {leave}. Or use cpu:N."


def _named(lines: Iterable[str]) -> str:
    names = list(lines)
    return f"{', '.join(names[:_MOST_NAMED])}{', …' if len(names) > _MOST_NAMED else ''}"
