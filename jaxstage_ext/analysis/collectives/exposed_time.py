"""How much of a program's collectives other work hides: the one definition of hidden and exposed time.

The time of a collective is hidden as far as other work is scheduled between its start and its end, exposed otherwise.
A second of work hides at most one second of one collective. Where several are in flight, work is allotted so that the
most is hidden, which keeps the exposed time a lower bound: each instruction, in the order of the schedule, hides the
collective that ends first (Glover, "Maximum matching in a convex bipartite graph", Naval Res. Logist. Q. 14, 1967).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.ir.hlo import schedule
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs


class Exchange(NamedTuple):
    """One collective in one run of the module."""

    rows: tuple[int, ...]
    """The instructions that stand for it, the collective itself first."""
    seconds: float
    """Lower bound of all its runs by link bandwidth, NaN where unknown, for the reason `why`."""
    why: str = ""
    meanwhile: tuple[int, ...] = ()
    """Instructions that work between its start and its end, in the order of the schedule."""


def read(collectives: Collectives) -> tuple[Exchange, ...]:
    """The collectives of a module in the form that a roofline takes."""
    position = schedule.places(collectives.ops)
    return tuple(
        Exchange(
            (row.op.row, row.op.start, row.op.done),
            math.nan if row.total_seconds is None else row.total_seconds,
            row.why_no_seconds,
            tuple(_unrolled(collectives.ops, position, row.meanwhile or ())),
        )
        for row in collectives.rows
    )


def _unrolled(ops: Module, position: Longs | None, rows: Sequence[int]) -> Iterator[int]:
    """Instructions, with those of the computations that loops, branches and calls among them run."""
    for row in rows:
        yield row
        if ops.opcode[row] in (b"while", b"conditional", b"call"):
            inside = np.flatnonzero(np.isin(ops.computation, [c for c in ops.called[row] if c >= 0]))
            order = inside if position is None else inside[np.argsort(position[inside], kind="stable")]
            yield from _unrolled(ops, position, order.tolist())


def onto(exchanges: Sequence[Exchange], place: Mapping[int, int]) -> list[tuple[int, Exchange]]:
    """Each collective with the place of its first instruction that has one; -1 where none has."""
    return [(next((place[row] for row in exchange.rows if row in place), -1), exchange) for exchange in exchanges]


def hidden(exchanges: Sequence[Exchange], seconds: Mapping[int, float]) -> list[float]:
    """Of each collective, the seconds that other work hides; NaN where its time is unknown.

    `seconds` are those of all runs of an instruction, NaN where unknown; unknown work hides nothing.
    """
    left = [exchange.seconds for exchange in exchanges]
    behind = _behind(exchanges)
    for row in _scheduled(exchanges):
        work = seconds.get(row, math.nan)
        for number, _ in sorted(behind[row], key=lambda pair: pair[1]):
            if work > 0 and left[number] > 0:
                taken = min(work, left[number])
                work, left[number] = work - taken, left[number] - taken
    return [exchange.seconds - rest for exchange, rest in zip(exchanges, left, strict=True)]


def attached(collectives: Collectives, seconds: Mapping[int, float]) -> Collectives:
    """The collectives with the seconds of each that other work hides."""
    parts = hidden(read(collectives), seconds)
    rows = zip(collectives.rows, parts, strict=True)
    return replace(
        collectives, rows=tuple(replace(row, hidden=None if math.isnan(part) else part) for row, part in rows)
    )


def _behind(exchanges: Sequence[Exchange]) -> dict[int, list[tuple[int, int]]]:
    """Per instruction, the collectives that are in flight, and how many instructions each still has to come."""
    behind: dict[int, list[tuple[int, int]]] = {}
    for number, exchange in enumerate(exchanges):
        for place, row in enumerate(exchange.meanwhile):
            behind.setdefault(row, []).append((number, len(exchange.meanwhile) - place))
    return behind


def _scheduled(exchanges: Sequence[Exchange]) -> Iterator[int]:
    """All instructions that are scheduled beside collectives, in the order of the schedule."""
    graph: TopologicalSorter[int] = TopologicalSorter()
    for exchange in exchanges:
        for row in exchange.meanwhile[:1]:
            graph.add(row)
        for earlier, later in itertools.pairwise(exchange.meanwhile):
            graph.add(later, earlier)
    return iter(graph.static_order())
