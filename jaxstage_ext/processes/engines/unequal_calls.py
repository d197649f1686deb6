"""Whether processes wait for each other because they do not make the same calls: a pure function of where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxstage_ext.processes.engines.whereabouts import EngineActivity, Whereabouts


@dataclass(frozen=True)
class UnequalCalls:
    """Processes that are in a program which the others do not come to, as far as one look tells.

    Attributes:
      inside: the program that each is in, or waits at the guard for, by process; "" where its name is unknown.
      finished: those that have finished the cell which the others are in; () where all are in different programs.
      failed: those of them that did so with an error.
    """

    inside: tuple[tuple[int, str], ...]
    finished: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()


def unequal_calls(found: Sequence[Whereabouts]) -> UnequalCalls | None:
    """What a look at all processes tells; None where they may well make the same calls."""
    waiting = [one for one in found if one.program is not None or one.activity is EngineActivity.GUARD]
    inside = tuple((one.process, one.program.name if one.program is not None else "") for one in waiting)
    cells = {one.cell for one in waiting}
    idle = [one for one in found if one.activity is EngineActivity.IDLE and one.cell]
    finished = [one for one in idle if cells == {one.cell}]
    if finished:
        failed = tuple(one.process for one in finished if one.has_failed)
        return UnequalCalls(inside, tuple(one.process for one in finished), failed)
    return UnequalCalls(inside) if len({name for _, name in inside if name}) > 1 else None
