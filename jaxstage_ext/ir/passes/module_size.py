"""The size of a module, counted from the lines of its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxstage_ext.ir.passes import hlo_line
from jaxstage_ext.report.frames import Ints

BOOKKEEPING = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})


class Size(NamedTuple):
    """How large a module is.

    `instructions` are those that XLA prints; libtpu prints some get-tuple-elements as "%tuple#0". `bytes` sums the
    results of the instructions in computations that run, without padding: those inside fusions and reducers are never
    written, and parameters, constants, tuples and bitcasts make nothing new.
    """

    instructions: int
    fusions: int
    bytes: int


class ModuleSizes:
    """The sizes of modules that are made of a pool of lines, each of which is read once."""

    def __init__(self, lines: Sequence[str]) -> None:
        read = [hlo_line.read(line) for line in lines]
        self._heads = {row: line for row, line in enumerate(read) if line.kind == hlo_line.OPENS}
        self._runs = {row: line.runs for row, line in enumerate(read) if line.runs}
        self._is_instruction = np.array([line.kind == hlo_line.INSTRUCTION for line in read], bool)
        self._is_fusion = np.array([line.opcode == "fusion" for line in read], bool)
        self._written = np.array([_written(line) for line in read], np.int64)
        self._is_head, self._is_caller = np.zeros(len(read), bool), np.zeros(len(read), bool)
        self._is_head[list(self._heads)] = self._is_caller[list(self._runs)] = True

    def of(self, rows: Ints) -> Size:
        """The size of the module that has these rows of the pool as its lines."""
        instructions, fusions = (
            int(np.count_nonzero(which[rows])) for which in (self._is_instruction, self._is_fusion)
        )
        return Size(instructions, fusions, self._bytes(rows))

    def _bytes(self, rows: Ints) -> int:
        """Bytes written by the entry and what it runs. In the text callers come after what they call."""
        heads, callers = np.flatnonzero(self._is_head[rows]), np.flatnonzero(self._is_caller[rows])
        total_before = np.concatenate([[0], np.cumsum(self._written[rows])])
        ends = np.append(heads[1:], len(rows))
        written = total_before[ends] - total_before[heads]
        first, last = np.searchsorted(callers, heads), np.searchsorted(callers, ends)
        running: set[str] = set()
        total = 0
        for i in reversed(range(len(heads))):
            head = self._heads[int(rows[heads[i]])]
            if head.opcode or head.name in running:
                total += int(written[i])
                for row in rows[callers[first[i] : last[i]]].tolist():
                    running.update(self._runs[row])
        return total


def _written(line: hlo_line.Line) -> int:
    return line.size if line.kind == hlo_line.INSTRUCTION and line.opcode not in BOOKKEEPING else 0
