"""Where the equations of bodies that follow one another take their operands from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.repetition.equation_kinds import operand


class Reads(NamedTuple):
    """How many values a body reads from outside itself."""

    carried: int
    """From the body before it."""
    own: int
    """From before the run, another for each body: what would be stacked."""
    shared: int
    """From before the run, the same for all bodies; numbers that stand in the jaxpr are not counted."""


class BodyValue(NamedTuple):
    """A value made by an equation of the body or, with a negative row, of the body before."""

    row: int
    result: int


class OutsideValue(NamedTuple):
    """A value from before the run, or a number that stands in the jaxpr."""

    value: Hashable
    is_number: bool


_Slots = list[BodyValue | OutsideValue | None]
"""What each operand of a body reads, in order; None for a value of a body further back."""


class BodyOperands:
    """The operands of the equations of one jaxpr."""

    def __init__(self, jaxpr: Any) -> None:
        self._eqns = jaxpr.eqns
        self._made: dict[Any, tuple[int, int]] = {}
        for row, eqn in enumerate(jaxpr.eqns):
            self._made.update({var: (row, result) for result, var in enumerate(eqn.outvars)})

    def longest_run(self, start: int, length: int, bodies: int) -> tuple[int, int, Reads]:
        """(first equation, bodies, what they read) of the longest run of those that take their operands alike."""
        best = start, 0, Reads(0, 0, 0)
        body = 0
        while bodies - body > best[1]:
            first = start + body * length
            run = self._run(first, length, bodies - body)
            if len(run) > best[1]:
                best = first, len(run), _reads(run)
            body += max(len(run) - 1, 1)
        return best

    def run(self, first: int, length: int, count: int) -> list[_Slots]:
        """The operands of each body of a run that is known."""
        return self._run(first, length, count)

    def _run(self, first: int, length: int, most: int) -> list[_Slots]:
        """The operands of the first body, and of those after it that are alike."""
        run = [self._slots(first, first, length)]
        while len(run) < most:
            slots = self._slots(first + len(run) * length, first, length)
            if not _are_alike(run[0], run[1] if len(run) > 1 else slots, slots):
                break
            run.append(slots)
        return run

    def _slots(self, base: int, first: int, length: int) -> _Slots:
        """Of the body that begins with equation `base`, in a run that begins with `first`."""
        slots: _Slots = []
        for atom in (atom for eqn in self._eqns[base : base + length] for atom in eqn.invars):
            if jaxprs.is_literal(atom):
                slots.append(OutsideValue(operand(atom), True))
                continue
            row, result = self._made.get(atom, (-1, 0))
            if row < first:
                slots.append(OutsideValue(atom, False))
            else:
                slots.append(BodyValue(row - base, result) if row >= base - length else None)
        return slots


def _are_alike(first: _Slots, second: _Slots, slots: _Slots) -> bool:
    """Whether a body reads as the second of its run does, and both as the first, but for what comes from before it."""
    for at_first, before, now in zip(first, second, slots, strict=True):
        if now is None or not isinstance(now, type(before)):
            return False
        if isinstance(now, BodyValue) and (now != before or (now.row >= 0 and now != at_first)):
            return False
        if (isinstance(now, OutsideValue) or now.row < 0) and not isinstance(at_first, OutsideValue):
            return False
    return True


def _reads(run: list[_Slots]) -> Reads:
    last = run[-1]
    carried = {slot for slot in last if isinstance(slot, BodyValue) and slot.row < 0}
    own, shared = set(), set()
    for column in zip(*run, strict=True):
        if isinstance(column[-1], OutsideValue):
            is_shared = all(slot == column[0] for slot in column)
            if not is_shared:
                own.add(column)
            elif not column[-1].is_number:
                shared.add(column[-1])
    return Reads(len(carried), len(own), len(shared))
