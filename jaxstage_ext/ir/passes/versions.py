"""Many versions of one HLO text, kept as their differences: a pool of unique lines, and for each version its lines.

A pass changes few lines, so a version is mostly a run of numbers of lines that were there before. Metadata is a pool
of its own, for a renamed instruction keeps it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from jaxstage_ext.ir.passes import hlo_graph, hlo_line
from jaxstage_ext.report.document import Flags
from jaxstage_ext.report.frames import Ints

_TABLES, _HEAD = "FileNames", 10
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


class Builder:
    """Takes versions in their order and keeps what differs."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._shown: dict[str, int] = {}
        self._metadata: dict[str, int] = {}
        self._cut: list[tuple[int, int, int]] = []
        self._read: list[hlo_line.Line] = []
        self._versions: list[Ints] = []
        self.sizes: list[Size] = []
        self.text_bytes = 0

    def __len__(self) -> int:
        return len(self._versions)

    def add(self, text: str) -> int:
        """The number of the version that has this text: the last one where it is the same."""
        rows = np.fromiter(map(self._number, text.split("\n")), np.int32)
        self.text_bytes += len(text)
        if not self._versions or not np.array_equal(rows, self._versions[-1]):
            self._versions.append(rows)
            self.sizes.append(self._size(rows))
        return len(self._versions) - 1

    def _number(self, line: str) -> int:
        number = self._lines.get(line)
        if number is None:
            number = self._lines[line] = len(self._lines)
            shown, metadata, place = hlo_line.split(line)
            where = self._shown.setdefault(shown, len(self._shown))
            if where == len(self._read):
                self._read.append(hlo_line.read(shown))
            self._cut.append((where, self._metadata.setdefault(metadata, len(self._metadata)), place))
        return number

    def _size(self, rows: Ints) -> Size:
        read = [self._read[self._cut[row][0]] for row in rows.tolist()]
        opcodes = [line.opcode for line in read if line.kind == hlo_line.INSTRUCTION]
        return Size(len(opcodes), opcodes.count("fusion"), _written(read))

    def pack(self) -> list[bytes]:
        """The versions as bytes that `Versions` reads."""
        cut = np.array(self._cut, np.int32).reshape(-1, 3)
        pools = ("\n".join(pool).encode("utf-8", "surrogateescape") for pool in (self._shown, self._metadata))
        return [zlib.compress(part) for part in (*pools, _deltas(cut), *map(_deltas, self._versions))]


def _written(lines: list[hlo_line.Line]) -> int:
    """Bytes of results in the computations that run: the entry and what it runs. Callers stand after what they call."""
    running: set[str] = set()
    total = inside = 0
    called: list[str] = []
    for line in reversed(lines):
        if line.kind == hlo_line.INSTRUCTION:
            inside += line.size if line.opcode not in BOOKKEEPING else 0
            called += line.runs
        elif line.kind == hlo_line.OPENS:
            if line.opcode or line.name in running:
                total += inside
                running.update(called)
            inside, called = 0, []
    return total


def _deltas(numbers: Ints) -> bytes:
    return np.diff(numbers, axis=0, prepend=np.zeros_like(numbers[:1])).astype("<i4").tobytes()


def _summed(data: bytes, *shape: int) -> Ints:
    numbers = np.frombuffer(zlib.decompress(data), "<i4").reshape(-1, *shape)
    return np.cumsum(numbers, axis=0, dtype=np.int32)


class Versions(Sequence[str]):
    """The texts of a Builder's versions, as XLA printed them but without metadata; each is made when asked for.

    Raises ValueError where the parts are not what `Builder.pack` gave.
    """

    def __init__(self, parts: Sequence[bytes]) -> None:
        if len(parts) < 3:
            raise ValueError(f"{len(parts)} parts are no versions of a text; there are at least 3")
        self._parts = list(parts)

    def __len__(self) -> int:
        return len(self._parts) - 3

    @property
    def nbytes(self) -> int:
        """Bytes that all versions take as they are kept."""
        return sum(map(len, self._parts))

    def _pool(self, part: int) -> list[str]:
        try:
            return zlib.decompress(self._parts[part]).decode("utf-8", "surrogateescape").split("\n")
        except zlib.error as error:
            raise ValueError(f"not a text's versions: {error}") from None

    @cached_property
    def lines(self) -> list[str]:
        """The unique lines, without metadata."""
        return self._pool(0)

    @cached_property
    def metadata(self) -> list[str]:
        """The unique metadata, as printed; "" is none."""
        return self._pool(1)

    @cached_property
    def _cut(self) -> Ints:
        return _summed(self._parts[2], 3)

    def rows(self, version: int) -> tuple[Ints, Ints]:
        """Per row of a version as shown: which of `lines`, which of `metadata`.

        XLA prints the tables that metadata refers to below the module's head; they are left out with it.
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
        found = np.flatnonzero(cut[:_HEAD, 0] == self._tables)
        if not len(found):
            return slice(0, 0)
        start = int(found[0])
        first = np.flatnonzero(self._opens[cut[start:, 0]])
        return slice(start, start + int(first[0]) if len(first) else len(cut))

    @cached_property
    def _tables(self) -> int:
        """The line with which the tables begin, -1 none."""
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
        return _summed(self._parts[3 + range(len(self))[version]])

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
