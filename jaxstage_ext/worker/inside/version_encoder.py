"""Many versions of one HLO text as bytes: a pool of unique lines, and for each version its lines as differences.

A pass changes few lines, so a version is mostly a run of numbers of lines that were there before. Metadata is a pool
of its own, for a renamed instruction keeps it. `ir.passes.versions` reads what this packs.
"""

from __future__ import annotations

import re
import zlib

import numpy as np
import numpy.typing as npt

_METADATA = re.compile(r', metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*\}')
Ints = npt.NDArray[np.integer]


class VersionEncoder:
    """Takes versions in their order and keeps what differs."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._shown: dict[str, int] = {}
        self._metadata: dict[str, int] = {}
        self._cut: list[tuple[int, int, int]] = []
        self._versions: list[Ints] = []
        self.text_bytes = 0

    def __len__(self) -> int:
        return len(self._versions)

    def add(self, text: str) -> int:
        """The number of the version that has this text: the last one where it is the same."""
        rows = np.fromiter(map(self._number, text.split("\n")), np.int32)
        self.text_bytes += len(text)
        if not self._versions or not np.array_equal(rows, self._versions[-1]):
            self._versions.append(rows)
        return len(self._versions) - 1

    def _number(self, line: str) -> int:
        number = self._lines.get(line)
        if number is None:
            number = self._lines[line] = len(self._lines)
            shown, metadata, place = split(line)
            row = self._shown.setdefault(shown, len(self._shown))
            self._cut.append((row, self._metadata.setdefault(metadata, len(self._metadata)), place))
        return number

    def pack(self) -> list[bytes]:
        """The pool of lines, that of metadata, how each whole line is put together, then each version's lines."""
        cut = np.array(self._cut, np.int32).reshape(-1, 3)
        pools = ("\n".join(pool).encode("utf-8", "surrogateescape") for pool in (self._shown, self._metadata))
        return [zlib.compress(part) for part in (*pools, _deltas(cut), *map(_deltas, self._versions))]


def split(line: str) -> tuple[str, str, int]:
    """(the line without metadata, its metadata as printed, where that stood)."""
    match = _METADATA.search(line)
    if match is None:
        return line, "", 0
    return line[: match.start()] + line[match.end() :], match[0], match.start()


def _deltas(numbers: Ints) -> bytes:
    return np.diff(numbers, axis=0, prepend=np.zeros_like(numbers[:1])).astype("<i4").tobytes()
