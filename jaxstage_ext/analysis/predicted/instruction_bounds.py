"""What is known of each instruction's time without XLA's schedule: its lower bound, and where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.collectives.collective_ops import CollectiveOps
from jaxstage_ext.analysis.predicted.predicted_steps import Stream
from jaxstage_ext.ir.hlo import schedule
from jaxstage_ext.ir.hlo.module import BOOKKEEPING, Module

Floats = npt.NDArray[np.float64]

_LARGE_MOVES = frozenset({b"copy", b"copy-start", b"slice", b"dynamic-slice", b"dynamic-update-slice"})
_MOVES = _LARGE_MOVES.union(
    (b"bitcast", b"parameter", b"constant", b"tuple", b"get-tuple-element", b"fusion", b"compare", b"select", b"add"),
    (b"multiply", b"clamp", b"convert", b"broadcast", b"reshape"),
)
"""What copies consist of, with the arithmetic of their indices."""
_NO_TIME = (*BOOKKEEPING, b"after-all", b"add-dependency", b"opt-barrier", b"partition-id", b"replica-id", b"domain")


@dataclass(frozen=True, eq=False)
class InstructionBounds:
    """Lower bounds of the instructions of a module.

    Attributes:
      seconds: of one run of each, NaN unknown.    collectives: those of collectives, by the row that begins them.
    """

    module: Module
    seconds: Floats
    collectives: Mapping[int, float]

    @cached_property
    def position(self) -> npt.NDArray[np.int64] | None:
        """The place of each instruction in its computation; None where XLA has not scheduled the module."""
        return schedule.places(self.module)

    @cached_property
    def exchanging(self) -> frozenset[int]:
        """The rows of collectives, and of the instructions that begin or end them."""
        ops = CollectiveOps(self.module, self.position).collectives
        return frozenset(row for op in ops for row in (op.row, op.start, op.done))

    def microseconds(self, row: int) -> float:
        """The bound of one run of an instruction; of one that begins others that of all that they do. NaN unknown."""
        if row in self.collectives:
            return self.collectives[row] * 1e6
        opcode = self.module.opcode[row]
        if opcode in _NO_TIME:
            return 0.0
        if opcode == b"async-start":
            inside = self._inside(row)
            return float(np.nansum(self.seconds[inside]) * 1e6) if len(inside) else float("nan")
        return float(self.seconds[row] * 1e6)

    def stream(self, row: int) -> Stream:
        """Where what an instruction begins, or is, runs."""
        if row in self.exchanging:
            return Stream.COLLECTIVE
        if self.module.opcode[row] in (b"copy-start", b"send", b"recv"):
            return Stream.COPY
        inside = {bytes(opcode) for opcode in self.module.opcode[self._inside(row, deep=True)]}
        return Stream.COPY if inside <= _MOVES and inside & _LARGE_MOVES else Stream.BESIDE

    def _inside(self, row: int, deep: bool = False) -> npt.NDArray[np.int64]:
        """The instructions of the computations that an instruction calls, with `deep` of all that those call."""
        called, seen = [one for one in self.module.called[row] if one >= 0], set[int]()
        while called:
            seen.update(called)
            rows = np.flatnonzero(np.isin(self.module.computation, called))
            called = [one for at in rows.tolist() for one in self.module.called[at] if one >= 0 and one not in seen]
            called = called if deep else []
        return np.flatnonzero(np.isin(self.module.computation, list(seen))) if seen else np.zeros(0, np.int64)
