"""Where the values of a program change their dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxstage_ext.analysis.dtypes import conversions, dtype_table
from jaxstage_ext.analysis.dtypes.conversions import Conversion
from jaxstage_ext.analysis.dtypes.dtype_table import Dtypes
from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.given import lacking_stage
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.head.argument_wording import narrowing
from jaxstage_ext.program.head.call_arguments import narrowed
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import instruction_places, line_label
from jaxstage_ext.report.unavailable import Unavailable


@fact
def dtypes(program: Program) -> Dtypes:
    """Every promotion and demotion, of the jaxpr and of the optimised module where there is one.

    Raises Unavailable where nothing was traced.
    """
    if (traced := program.jax_traced) is None:
        why = f"{program.name} was not traced by JAX, so its dtypes are unknown"
        raise Unavailable(lacking_stage.without_jaxpr(program.call, "its dtypes are unknown", why))
    place_of = jaxpr_lines.frame_reader(program.frame_table)
    of_jaxpr = list(conversions.of_jaxpr(traced.jaxpr, _line_of_equation(program), place_of))
    notes = narrowing(narrowed(program))
    return dtype_table.join([*of_jaxpr, *_of_module(program)], tuple(notes))


@fact
def changes_dtypes(program: Program) -> bool:
    """Whether the jaxpr has a conversion."""
    traced = program.jax_traced
    return traced is not None and next(conversions.of_jaxpr(traced.jaxpr, lambda eqn: ""), None) is not None


def _line_of_equation(program: Program) -> Callable[[Any], str]:
    """A function from an equation to its source line."""
    frame_of, frames = jaxpr_lines.frame_reader(program.frame_table), program.frame_table.freeze()

    def line_of(eqn: Any) -> str:
        nonlocal frames
        frame = frame_of(eqn)
        if frame >= len(frames):
            frames = program.frame_table.freeze()
        return line_label(frames, int(frames.user[frame]) if frame >= 0 else -1)

    return line_of


def _of_module(program: Program) -> list[Conversion]:
    if not program.has_hlo:
        return []
    return list(conversions.of_hlo(program.module, instruction_places(program)))
