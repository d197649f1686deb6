"""The rows of an HLO module's text: which instruction each row shows, and which rows fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.protowire import Bytes, Longs
from jaxstage_ext.report.frames import Ints


class TextRows(NamedTuple):
    """How a text's rows and a module's instructions belong together."""

    row: Longs
    """The row of each instruction, -1 where the text leaves it out."""
    instruction: Longs
    """The instruction of each row, -1 for none."""
    folds: Ints
    """The last row of the block that opens on each row, -1 for none."""

    @property
    def total(self) -> int:
        """How many rows the text has."""
        return len(self.instruction)


def read(text: str, names: Sequence[bytes]) -> TextRows:
    """The rows of a module's text, by the names of its instructions."""
    raw = text.encode()
    data = protowire.buffer(raw)
    breaks = np.flatnonzero(data[: len(raw)] == ord("\n"))
    start = np.concatenate([[0], breaks + 1])
    stop = np.concatenate([breaks, [len(raw)]])
    name_start = start + np.where(data[start + 2] == ord("R"), 8, 3)
    indented = (data[start] == ord(" ")) & (data[name_start - 1] == ord("%")) & (name_start < stop)
    spaces = np.flatnonzero(data == ord(" "))
    rows = np.flatnonzero(indented)
    name_end = spaces[np.minimum(np.searchsorted(spaces, name_start[rows]), len(spaces) - 1)]
    numbers = {name: i for i, name in enumerate(names)}
    instruction = np.full(len(start), -1, np.int64)
    instruction[rows] = [
        numbers.get(raw[a:b], -1) for a, b in zip(name_start[rows].tolist(), name_end.tolist(), strict=True)
    ]
    row = np.full(len(names), -1, np.int64)
    known = instruction >= 0
    row[instruction[known]] = np.flatnonzero(known)
    return TextRows(row, instruction, _folds(data, start, stop))


def _folds(data: Bytes, start: Longs, stop: Longs) -> Ints:
    last = data[np.maximum(stop - 1, 0)]
    flush = (stop > start) & (data[start] != ord(" "))
    opens = np.flatnonzero(flush & (last == ord("{")))
    closes = np.flatnonzero(flush & (data[start] == ord("}")))
    end = np.full(len(start), -1, np.int32)
    if len(closes):
        place = np.searchsorted(closes, opens, side="right")
        inside = place < len(closes)
        end[opens[inside]] = closes[place[inside]]
    return end
