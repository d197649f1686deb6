"""Lower bounds of the time of a program's collectives, and the work that can hide them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jaxstage_ext.analysis.collectives.collective_table import Collectives


class Exchange(NamedTuple):
    """One collective in one run of the module.

    Attributes:
      rows: the instructions that stand for it, the collective itself first.
      seconds: lower bound of all its runs by link bandwidth, NaN where unknown, for the reason `why`.
      meanwhile: instructions that work between its start and its end.
    """

    rows: tuple[int, ...]
    seconds: float
    why: str = ""
    meanwhile: tuple[int, ...] = ()


def read(collectives: Collectives) -> tuple[Exchange, ...]:
    """The collectives of a module in the form that a roofline takes."""
    return tuple(
        Exchange(
            (row.op.row, row.op.start, row.op.done),
            math.nan if row.total_seconds is None else row.total_seconds,
            row.why_no_seconds,
            row.meanwhile or (),
        )
        for row in collectives.rows
    )


def onto(exchanges: Sequence[Exchange], place: Mapping[int, int]) -> list[tuple[int, Exchange]]:
    """Each collective with the place of its first instruction that has one; -1 where none has."""
    return [(next((place[row] for row in exchange.rows if row in place), -1), exchange) for exchange in exchanges]
