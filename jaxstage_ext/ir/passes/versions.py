"""Many versions of one HLO text, kept as a pool of unique lines and, for each version, which lines it has.

The worker encodes them while it compiles (`VersionEncoder`); lines and their metadata are pools of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from jaxstage_ext.ir.passes import hlo_graph
from jaxstage_ext.ir.passes.module_size import ModuleSizes, Size
from jaxstage_ext.report.document import Flags
from jaxstage_ext.report.frames import Ints
from jaxstage_ext.store.entry import inflated

POOLS = 2
"""Parts that hold text, lines and metadata; the others are numbers."""
_TABLES, _HEAD = "FileNames", 10


def _summed(data: bytes, *shape: int) -> Ints:
    numbers = np.frombuffer(inflated(data), "<i4").reshape(-1, *shape)
    return np.cumsum(numbers, axis=0, dtype=np.int32)


def _checked(numbers: Ints, end: int) -> Ints:
    if ((numbers < 0) | (numbers >= end)).any():
        raise ValueError(f"not a text's versions: a number is not from 0 to {end - 1}")
    return numbers


class Versions(Sequence[str]):
    """The texts of the versions, as XLA printed them but without metadata; each is put together on access.

    Raises ValueError where the parts are not what the worker packed.
    """

    def __init__(self, parts: Sequence[bytes]) -> None:
        if len(parts) <= POOLS:
            raise ValueError(f"{len(parts)} parts are no versions of a text; there are at least 3")
        self._parts = list(parts)

    def __len__(self) -> int:
        return len(self._parts) - 3

    @property
    def nbytes(self) -> int:
        """Bytes of memory that all versions take."""
        return sum(map(len, self._parts))

    def _pool(self, part: int) -> list[str]:
        try:
            return inflated(self._parts[part]).decode("utf-8", "surrogateescape").split("\n")
        except ValueError as error:
            raise ValueError(f"not a text's versions: {error}") from None

    @cached_property
    def lines(self) -> list[str]:
        """The unique lines, without metadata."""
        return self._pool(0)

    @cached_property
    def metadata(self) -> list[str]:
        """The unique metadata, as printed; "" means none."""
        return self._pool(1)

    @cached_property
    def _cut(self) -> Ints:
        cut = _summed(self._parts[2], 3)
        for column, pool in ((cut[:, 0], self.lines), (cut[:, 1], self.metadata)):
            if len(np.unique(_checked(column, len(pool)))) != len(pool):
                raise ValueError(f"not a text's versions: {len(pool)} lines are not all of any of them")
        if not all(metadata.startswith(", metadata={") for metadata in self.metadata if metadata):
            raise ValueError("not a text's versions: not metadata")
        return cut

    def sizes(self) -> list[Size]:
        """How large the module is in each version."""
        sizes = ModuleSizes(self.lines)
        return [sizes.of(self._cut[self._raw(version), 0]) for version in range(len(self))]

    def check_whole(self) -> None:
        """Raise ValueError unless every version is a whole module: from its head past its entry to a closing brace."""
        heads, entries, ends = (
            np.array([line.startswith(start) for line in self.lines], bool) for start in ("HloModule ", "ENTRY ", "}")
        )
        blank = np.array([not line for line in self.lines], bool)
        for version in range(len(self)):
            rows = self._cut[self._raw(version), 0]
            written = rows[~blank[rows]]
            if not len(written) or not heads[written[0]] or not ends[written[-1]] or not entries[written].any():
                raise ValueError(f"version {version} of {len(self)} is not the text of a whole module")

    def rows(self, version: int) -> tuple[Ints, Ints]:
        """Per row of a version as shown: which of `lines`, which of `metadata`.

        The tables that the metadata refers to, which XLA prints below the module's head, are left out too.
        """
        cut = self._cut[self._raw(version)]
        cut = np.delete(cut, self._block(cut), axis=0)
        return cut[:, 0], cut[:, 1]

    def tables(self, version: int) -> list[str]:
        """The lines of the tables that the metadata refers to."""
        cut = self._cut[self._raw(version)]
        return [self.lines[line] for line in cut[self._block(cut), 0].tolist()]

    def _block(self, cut: Ints) -> slice:
        """The rows of the tables."""
        begins = np.flatnonzero(cut[:_HEAD, 0] == self._tables)
        if not len(begins):
            return slice(0, 0)
        start = int(begins[0])
        first = np.flatnonzero(self._opens[cut[start:, 0]])
        return slice(start, start + int(first[0]) if len(first) else len(cut))

    @cached_property
    def _tables(self) -> int:
        """The line that the tables begin with, -1 for none."""
        return self.lines.index(_TABLES) if _TABLES in self.lines else -1

    @cached_property
    def _opens(self) -> Flags:
        return np.array([line.startswith(("%", "ENTRY ")) for line in self.lines], np.uint8)

    def texts(self, version: int) -> list[str]:
        """The lines of a version, without metadata."""
        lines = self.lines
        return [lines[row] for row in self.rows(version)[0].tolist()]

    def graph(self, version: int) -> hlo_graph.Graph:
        """A version's lines as a graph, with their metadata."""
        none = self.metadata.index("") if "" in self.metadata else -1
        notes = self.rows(version)[1]
        return hlo_graph.read(self.texts(version), np.where(notes == none, 0, notes + 1).tolist())

    def _raw(self, version: int) -> Ints:
        return _checked(_summed(self._parts[3 + range(len(self))[version]]), len(self._cut))

    def __getitem__(self, version: Any) -> Any:
        return "\n".join(self.texts(version))

    def with_metadata(self, version: int) -> str:
        """The text exactly as XLA dumped it."""
        lines, metadata, cut = self.lines, self.metadata, self._cut
        whole = (
            lines[line][:place] + metadata[more] + lines[line][place:]
            for line, more, place in cut[self._raw(version)].tolist()
        )
        return "\n".join(whole)
