"""The user's line of an equation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import equation_lines
from jaxstage_ext.program.source.instruction_places import line_label
from jaxstage_ext.report.frames import Frames


class EquationPlace(NamedTuple):
    """A line of the user's; all empty where the stack has none."""

    label: str = ""
    file: str = ""
    line: int = 0


def place(program: Program, eqn: Any) -> EquationPlace:
    """The innermost line of the user's in an equation's stack, or in those of the equations that hold it."""
    return places(program, [eqn])[0]


def places(program: Program, equations: Sequence[Any]) -> list[EquationPlace]:
    """The same of several equations."""
    if not equations:
        return []
    frame_of, jaxpr = jaxpr_lines.frame_reader(program.frame_table), program.jax_traced.jaxpr.jaxpr
    around = equation_lines.frames_around(jaxpr, equations, frame_of)
    frames = program.frame_table.freeze()
    return [_innermost(frames, one) for one in around]


def _innermost(frames: Frames, around: Sequence[int]) -> EquationPlace:
    frame = next((at for at in around if at >= 0 and not frames.in_library[at]), -1)
    if frame < 0:
        return EquationPlace()
    span = frames.span(int(frames.user[frame]))
    return EquationPlace(line_label(frames, int(frames.user[frame])), span.file, span.line)
