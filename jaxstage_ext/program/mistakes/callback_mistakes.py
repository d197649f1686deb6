"""Errors of callbacks into Python, and what to do: those on a device that is not here, and ordered ones on several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.program.behaviour.effects import callback_checks, callback_lines
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import line_label
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.units import plural

_ORDERED_REFUSED = "ordered effects are not supported for more than 1 device"


def ordered_callbacks(program: Program, error: StageError) -> str | None:
    """Which callbacks are ordered, and that several devices have no common order; None for another error."""
    if _ORDERED_REFUSED not in error.message:
        return None
    lines = list(dict.fromkeys(_lines(program)))
    where = f" at {', '.join(lines[:_MOST_NAMED])}" if lines else ""
    more = f" and {plural(len(lines) - _MOST_NAMED, 'more line')}" if len(lines) > _MOST_NAMED else ""
    return f"Callbacks with ordered=True{where}{more} run on one device alone. Use ordered=False, or one device."


def _lines(program: Program) -> Iterator[str]:
    """The source lines of the equations with an ordered effect."""
    if (traced := program.jax_traced) is None:
        return
    frame_of = jaxpr_lines.frame_reader(program.frame_table)
    found = [frame_of(eqn) for eqn, _ in jaxprs.nested_equations(traced.jaxpr.jaxpr) if _is_ordered(eqn)]
    frames = program.frame_table.freeze()
    yield from filter(None, (line_label(frames, int(frames.user[frame])) for frame in found if frame >= 0))


def _is_ordered(eqn: Any) -> bool:
    return bool(eqn.params.get("ordered")) or "Ordered" in type(eqn.params.get("effect")).__name__


_REFUSED = "the program calls back into Python"
_MOST_NAMED = 3
_CHECKS_OFF = "set the environment variable EQX_ON_ERROR=nan before equinox is imported"


def absent_callbacks(program: Program, error: StageError) -> str | None:
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
