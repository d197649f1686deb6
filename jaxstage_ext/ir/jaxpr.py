"""A jaxpr as a Document: JAX's own text, with each line tied to its equation."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import NamedTuple

import numpy as np

from jaxstage_ext.ir import folds
from jaxstage_ext.ir.sources import call_sites, links
from jaxstage_ext.ir.sources.source import FrameTable, Location
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.frames import Ints

Stack = tuple[Location, ...]
"""The frames of a call stack, innermost first."""


class JaxprLines(NamedTuple):
    """A printed jaxpr as plain data, a row for each line; -1 stands for none."""

    text: str
    stack: Ints
    """Which of `stacks` the line's equation has."""
    stacks: Sequence[Stack]
    scope: Ints
    """Which of `scopes`, its name stack."""
    scopes: tuple[str, ...]
    equation: Ints
    """The row in which the line's equation begins."""
    users: Longs
    operands: Longs
    """`users`, `operands`: pairs of rows, of which the first reads what the second makes."""
    held: Longs
    holders: Longs
    """`held`, `holders`: pairs of rows, of which the second's equation holds the jaxpr that the first's is in."""
    codes: tuple[CodeType, ...] = ()
    """The code that the stacks are in."""


def read(jaxpr: JaxprLines, table: FrameTable) -> Document:
    """The document of a printed jaxpr; its stacks go into `table`."""
    table.sources.traced(jaxpr.codes)
    frames_of_stacks = np.array([*(frame_of(stack, table) for stack in jaxpr.stacks), -1], np.int32)
    row = np.arange(len(jaxpr.stack), dtype=np.int32)
    flags = np.where(jaxpr.equation == row, OP, 0).astype(np.uint8)
    joined = call_sites.joined(frames_of_stacks[jaxpr.stack], (jaxpr.held, jaxpr.holders), table)
    frame = np.where(jaxpr.equation >= 0, joined[jaxpr.equation], -1).astype(np.int32)
    linked = links.complete(frame, jaxpr.scope, flags, jaxpr.scopes, _graph(jaxpr))
    ends = folds.by_brackets(jaxpr.text.split("\n"))
    return Document(
        "jaxpr", jaxpr.text, table.freeze(), linked.frame, linked.flags, ends, linked.scope, jaxpr.scopes, linked.origin
    )


def _graph(jaxpr: JaxprLines) -> links.LinkGraph:
    none, home = np.zeros(0, np.int64), np.full(len(jaxpr.stack), -1, np.int64)
    held, first = np.unique(jaxpr.held, return_index=True)
    home[held] = jaxpr.holders[first]
    return links.LinkGraph((jaxpr.operands, jaxpr.users), (jaxpr.users, jaxpr.operands), (none, none), home)


def frame_of(stack: Stack, table: FrameTable) -> int:
    """The frame of a stack in `table`; -1 of an empty one."""
    frame = -1
    for location in reversed(stack):
        frame = table.add(location, frame)
    return frame
