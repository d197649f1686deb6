"""Serialised protobuf messages of one type, whose fields are read as columns when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.ir.wire.protowire import Bytes, Longs


@dataclass(frozen=True, eq=False)
class Messages:
    """Messages one after another."""

    raw: bytes = field(repr=False)
    """The bytes of all messages, then the padding that `protowire` needs."""
    end: Longs = field(repr=False)
    """Where each message ends in `raw`."""

    @classmethod
    def of(cls, blobs: Sequence[bytes]) -> Self:
        """The messages of these bytes."""
        return cls(*joined(blobs))

    def __len__(self) -> int:
        return len(self.end)

    @cached_property
    def start(self) -> Longs:
        """Where each message begins in `raw`."""
        return np.concatenate([np.zeros(1, np.int64), self.end[:-1]])[: len(self.end)]

    @property
    def data(self) -> Bytes:
        """`raw` as an array, without a copy."""
        return np.frombuffer(self.raw, np.uint8)

    def message(self, row: int) -> bytes:
        """One message whole."""
        return self.raw[self.start[row] : self.end[row]]

    def fields(self, rows: Longs, *numbers: int) -> dict[int, protowire.Field]:
        """Fields of some messages, by field number; a Field's `row` indexes `rows`."""
        return protowire.read(self.data, self.start[rows], self.end[rows], numbers)

    def inside(self, of: protowire.Field, *numbers: int) -> dict[int, protowire.Field]:
        """Fields of the messages that a field holds; a Field's `row` indexes these messages."""
        return protowire.read(self.data, of.offset, of.offset + of.size, numbers)

    def lists(self, of: protowire.Field, n: int) -> Lists:
        """The numbers of a repeated field as a list for each of n messages."""
        owner, values = protowire.packed(self.data, of)
        return lists(owner, values, n)

    def strings(self, of: protowire.Field, n: int) -> list[bytes]:
        """The bytes of a string field for each of n messages, b"" where it is absent."""
        return protowire.strings(self.raw, of, n)


def joined(blobs: Sequence[bytes]) -> tuple[bytes, Longs]:
    """(the blobs joined and padded, where each ends)."""
    return b"".join([*blobs, protowire.PADDING]), np.cumsum(np.fromiter(map(len, blobs), np.int64, len(blobs)))
