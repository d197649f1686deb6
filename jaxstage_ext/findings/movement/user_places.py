"""The user's source lines of single equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.equation_lines import frames_around
from jaxstage_ext.program.source.instruction_places import line_label


class EquationPlace(NamedTuple):
    """Where an equation stands."""

    line: str = ""
    """As tables write it, "In [3]:7"; "" unknown."""
    file: str = ""
    number: int = 0
    """Of the line in the file."""


def places(program: Program, equations: Sequence[Any]) -> list[EquationPlace]:
    """The innermost place of the user's of each equation, or of one that holds it."""
    if not equations:
        return []
    around = frames_around(program.jax_traced.jaxpr.jaxpr, equations, jaxpr_lines.frame_reader(program.frame_table))
    frames = program.frame_table.freeze()
    found = []
    for at in around:
        own = [int(frames.user[frame]) for frame in at if frame >= 0 and not frames.in_library[frame]]
        if not own:
            found.append(EquationPlace())
            continue
        span = frames.span(own[0])
        found.append(EquationPlace(line_label(frames, own[0]), span.file, span.line))
    return found
