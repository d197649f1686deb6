"""Infers the source of operations that the compiler left without one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.document import GRADIENT, INFERRED, Flags
from jaxstage_ext.report.frames import Ints

_ROUNDS = 64


@dataclass(eq=False)
class Links:
    """Per operation: its frame (-1 unknown), name scope (-1 none), flags and, where inferred, its origin.

    `scopes` are the names of the scopes.
    """

    frame: Ints
    scope: Ints
    flags: Flags
    origin: Ints
    scopes: tuple[str, ...] = ()


def complete(frame: Ints, scope: Ints, flags: Flags, scopes: tuple[str, ...], graph: LinkGraph) -> Links:
    """The links that the compiler kept, to library code too; inferred links, which are flagged, where it kept none."""
    origin = infer(frame >= 0, graph)
    taken = origin >= 0
    frame = np.where(taken, frame[origin], frame)
    scope = np.where(taken & (scope < 0), scope[origin], scope)
    gradient = np.array(["transpose(" in name for name in scopes] + [False])[scope]
    flags = flags | (taken * INFERRED + gradient * GRADIENT).astype(np.uint8)
    return Links(frame, scope, flags, origin.astype(np.int32), scopes)


def without(linked: Links, lost: npt.NDArray[np.bool_]) -> Links:
    """The links without those of operations that must not take another's source."""
    frame, origin = np.where(lost, -1, linked.frame), np.where(lost, -1, linked.origin)
    kept = np.where(lost, linked.flags & ~np.uint8(INFERRED), linked.flags).astype(np.uint8)
    return Links(frame.astype(np.int32), linked.scope, kept, origin.astype(np.int32), linked.scopes)


Edges = tuple[Longs, Longs]
"""(takers, givers): each taker may take its source from the giver at the same place."""


@dataclass(frozen=True, eq=False)
class LinkGraph:
    """The edges along which an operation without a source may take one, by kind."""

    by_user: Edges
    by_operand: Edges
    """`by_user`, `by_operand`: edges to users and to operands, ordered by user."""
    by_called: Edges
    """Edges from a caller to the operation that stands for the called computation."""
    home: Longs
    """Per operation, one that calls its computation, or -1."""
    by_reader: Edges | None = None
    """Edges to what reads the operation inside a user, which stands for other work too."""


def graph(
    use: Edges, call: Edges, home: Longs, parameter: npt.NDArray[np.bool_], bundle: npt.NDArray[np.bool_]
) -> LinkGraph:
    """The Graph of (users, operands) ordered by user and (callers, roots of what they call).

    A parameter takes no source. A tuple (`bundle`) takes its source from its users, not from its elements.
    """
    user, operand = use
    downwards = ~parameter[operand]
    upwards = downwards & ~bundle[user]
    return LinkGraph(
        by_user=(operand[downwards], user[downwards]),
        by_operand=(user[upwards], operand[upwards]),
        by_called=call,
        home=np.where(parameter, -1, home),
    )


def infer(linked: npt.NDArray[np.bool_], graph: LinkGraph) -> Longs:
    """Per operation: the linked operation whose source it takes, or -1.

    Candidates in order: the computation it calls, what reads it inside a user, its users, its operands, the operation
    that calls its computation.
    Linked operations keep their own source.
    """
    origin = np.where(linked, np.arange(len(linked)), -1)
    inside = np.flatnonzero(graph.home >= 0)
    _spread(origin, graph.by_called)
    if graph.by_reader is not None:
        _spread(origin, graph.by_reader)
    for _ in range(2):
        _spread(origin, graph.by_user)
        _spread(origin, graph.by_operand)
        _spread(origin, (inside, graph.home[inside]))
    origin[linked] = -1
    return origin


def _spread(origin: Longs, edges: Edges) -> None:
    """Pass origins along edges until nothing changes; the first edge of a taker wins."""
    taker, giver = edges
    for _ in range(_ROUNDS):
        useful = np.flatnonzero((origin[taker] < 0) & (origin[giver] >= 0))
        if not len(useful):
            return
        takers, first = np.unique(taker[useful], return_index=True)
        origin[takers] = origin[giver[useful[first]]]
