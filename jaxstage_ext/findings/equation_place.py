"""The user's line of an equation."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import line_label


class EquationPlace(NamedTuple):
    """A line of the user's; all empty where the stack has none."""

    label: str = ""
    file: str = ""
    line: int = 0


def place(program: Program, eqn: Any) -> EquationPlace:
    """The innermost line of the user's in an equation's stack."""
    frame = jaxpr_lines.frame_reader(program.frame_table)(eqn)
    frames = program.frame_table.freeze()
    if frame < 0 or (user := int(frames.user[frame])) < 0 or frames.in_library[user]:
        return EquationPlace()
    span = frames.span(user)
    return EquationPlace(line_label(frames, user), span.file, span.line)
