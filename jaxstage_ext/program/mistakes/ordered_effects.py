"""Ordered callbacks in a program of several devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import line_label
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.units import plural

_REFUSED = "ordered effects are not supported for more than 1 device"
_MOST_NAMED = 3


def explanation(program: Program, error: StageError) -> str | None:
    """Which callbacks are ordered, and that several devices have no common order; None for another error."""
    if _REFUSED not in error.message:
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
