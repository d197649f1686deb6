"""A jaxpr as a Document: JAX's own text, with each line tied to its equation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir import folds, links
from jaxstage_ext.ir.protowire import Longs
from jaxstage_ext.ir.source import FrameTable, Location
from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.frames import Ints

Stack = tuple[Location, ...]
"""The frames of a call stack, innermost first."""


class JaxprLines(NamedTuple):
    """A printed jaxpr as plain data, a row for each line; -1 stands for none.

    Attributes:
      stack: which of `stacks` the line's equation has.   scope: which of `scopes`, its name stack.
      begins: whether an equation begins in the line.
      users, operands: pairs of rows, of which the first reads what the second makes.
      home: the row of the equation that holds the jaxpr in which the line's equation is.
    """

    text: str
    stack: Ints
    stacks: Sequence[Stack]
    scope: Ints
    scopes: tuple[str, ...]
    begins: npt.NDArray[np.bool_]
    users: Longs
    operands: Longs
    home: Longs


def read(jaxpr: JaxprLines, table: FrameTable) -> Document:
    """The document of a printed jaxpr; its stacks go into `table`."""
    frames_of_stacks = np.array([*(frame_of(stack, table) for stack in jaxpr.stacks), -1], np.int32)
    frame, flags = frames_of_stacks[jaxpr.stack], np.where(jaxpr.begins, OP, 0).astype(np.uint8)
    frames, none = table.freeze(), np.zeros(0, np.int64)
    edges = (jaxpr.operands, jaxpr.users), (jaxpr.users, jaxpr.operands)
    graph = links.LinkGraph(*edges, (none, none), jaxpr.home)
    linked = links.complete(frame, jaxpr.scope, flags, jaxpr.scopes, frames, graph)
    ends = folds.by_brackets(jaxpr.text.split("\n"))
    return Document(
        "jaxpr", jaxpr.text, frames, linked.frame, linked.flags, ends, linked.scope, jaxpr.scopes, linked.origin
    )


def frame_of(stack: Stack, table: FrameTable) -> int:
    """The frame of a stack in `table`; -1 of an empty one."""
    frame = -1
    for location in reversed(stack):
        frame = table.add(location, frame)
    return frame
