"""Frames that JAX took over from another place: those of functions that it traced once, while it lowered.

A `scan` calls `dynamic_update_index_in_dim`, a random number `threefry2x32`. JAX traces such a function where it needs
it first, in this program or an earlier one, and the frames of its operations are those of that place ever after. They
belong to the places that call the function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from jaxstage_ext.report.document import INFERRED, OP, Document
from jaxstage_ext.report.frames import Frames, Ints

_PRIMITIVE = re.compile(r" = ([\w-]+)")
Start = tuple[int, int, int, int]
"""File, function, line and column where a frame's expression starts."""
Made = set[tuple[Start, str]]
"""Where a primitive stands."""


def borrowed(
    frame: Ints, scope: Ints, scopes: Sequence[str], bodies: Iterable[Sequence[int]], frames: Frames, jaxpr: Document
) -> set[int]:
    """The operations of StableHLO in functions of which no equation of the jaxpr is where they are said to be."""
    equations, result = of_equations(jaxpr), set[int]()
    for body in bodies:
        named = [row for row in body if frame[row] >= 0 and scope[row] >= 0]
        made = {(start_of(frames, int(frame[row])), primitive(scopes[scope[row]])) for row in named}
        if made and not made & equations:
            result.update(row for row in body if frame[row] >= 0)
    return result


def of_equations(jaxpr: Document) -> Made:
    """Where the equations of a jaxpr stand."""
    made: Made = set()
    for row in np.flatnonzero(((jaxpr.flags & OP) > 0) & ((jaxpr.flags & INFERRED) == 0) & (jaxpr.frame >= 0)).tolist():
        if match := _PRIMITIVE.search(jaxpr.lines[row]):
            made.add((start_of(jaxpr.frames, int(jaxpr.frame[row])), match[1]))
    return made


def start_of(frames: Frames, frame: int) -> Start:
    """Where a frame's expression starts."""
    columns = (frames.file, frames.function, frames.line, frames.column)
    file, function, line, column = (int(values[frame]) for values in columns)
    return file, function, line, column


def primitive(name: str) -> str:
    """The primitive that a name scope ends with."""
    return name.rpartition("/")[2]
