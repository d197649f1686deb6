"""The stats of many events of a plane that tie them to modules and runs, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.protowire import Bytes, Field, Longs
from jaxstage_ext.profiling.xplane.xplane_wire import Plane

OP, MODULE, PROGRAM, RUN, DEVICE, CORRELATION, STEP, NODE = range(8)
STATS = (
    "hlo_op",
    "hlo_module",
    "program_id",
    "run_id",
    "device_ordinal",
    "correlation_id",
    "step_num",
    "cuda_graph_node_id",
)
"""The stats that are read of every event, in the order of the constants above; all others are read when asked for."""
ABSENT = np.iinfo(np.int64).min
_STRINGS = (OP, MODULE)


@dataclass(eq=False)
class Strings:
    """The strings of a plane's stats, numbered."""

    index: dict[str, int]

    def __call__(self, text: str) -> int:
        """The number of a string."""
        return self.index.setdefault(text, len(self.index))


class WantedStats:
    """Reads the wanted stats of one plane's events."""

    def __init__(self, plane: Plane, strings: Strings) -> None:
        self._plane, self._strings = plane, strings
        size = 1 + max((identity for identity in plane.stat_names if 0 < identity < 1 << 22), default=0)
        self._which = np.full(size, -1, np.int8)
        """Which wanted stat an id is, by id."""
        for identity, name in plane.stat_names.items():
            if 0 <= identity < size and name in STATS:
                self._which[identity] = STATS.index(name)
        self._text: dict[int, int] = {}

    def read(self, data: Bytes, stats: Field, events: int) -> Longs:
        """(stats wanted, events) values; ABSENT where an event has none."""
        columns = np.full((len(STATS), events), ABSENT, np.int64)
        which = self._identities(data, stats)
        wanted = which >= 0
        if not wanted.any():
            return columns
        event, which = stats.row[wanted], which[wanted]
        start = stats.offset[wanted]
        columns[which, event] = self._values(data, start, start + stats.size[wanted], which)
        return columns

    def _identities(self, data: Bytes, stats: Field) -> Longs:
        """Which wanted stat each is, -1 for none."""
        identity = data[stats.offset + 1].astype(np.int64)
        hard = np.flatnonzero((data[stats.offset] != 0x08) | (identity >= 0x80) | (stats.size < 2))
        if len(hard):
            ids = protowire.read(data, stats.offset[hard], stats.offset[hard] + stats.size[hard], (1,), ())[1]
            identity[hard] = 0
            identity[hard[ids.row]] = ids.value
        known = (identity >= 0) & (identity < len(self._which))
        return np.where(known, self._which[np.where(known, identity, 0)], -1)

    def _values(self, data: Bytes, start: Longs, end: Longs, which: Longs) -> Longs:
        fields = protowire.read(data, start, end, (3, 4, 5, 7), delimited=(5,))
        result = np.full(len(which), ABSENT, np.int64)
        for number in (3, 4):
            result[fields[number].row] = fields[number].value
        textual = np.isin(which, _STRINGS)
        result[textual] = ABSENT
        references = fields[7]
        result[references.row] = self._reference(references.value)
        inline = fields[5]
        raw = self._plane.wire.raw
        for row, at, size in zip(inline.row.tolist(), inline.offset.tolist(), inline.size.tolist(), strict=True):
            text = raw[at : at + size].decode("utf-8", "replace")
            result[row] = self._strings(text) if textual[row] else _integer(text)
        return result

    def _reference(self, identities: Longs) -> Longs:
        """The numbers of the strings that these ids refer to; ABSENT for ids that the plane does not define."""
        distinct, inverse = np.unique(identities, return_inverse=True)
        names = self._plane.stat_names
        numbers = [self._strings(names[i]) if i in names else ABSENT for i in distinct.tolist()]
        return np.array(numbers, np.int64)[inverse]


def _integer(text: str) -> int:
    return int(text) if text.isascii() and text.lstrip("-").isdigit() and len(text) < 19 else ABSENT
