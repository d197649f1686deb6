"""HLO instructions as columns for counting: shapes, operands in order, called computations, and their raw fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir import protowire
from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo import shapes as hlo_shapes
from jaxstage_ext.ir.hlo.shapes import Shapes
from jaxstage_ext.ir.protowire import Bytes, Longs

SHAPE = 3
_OPCODE = 32
"""Bytes of the longest opcode that is told from others."""
_SCALARS = (schema.INSTRUCTION_ID, schema.INSTRUCTION_OPERANDS, schema.INSTRUCTION_CALLED, SHAPE)


@dataclass(frozen=True)
class Lists:
    """A list of numbers for each row: those of row i are `values[start[i]:start[i + 1]]`."""

    start: Longs
    values: Longs

    def __getitem__(self, row: int) -> list[int]:
        start, values = self._plain
        return values[start[row] : start[row + 1]]

    @cached_property
    def _plain(self) -> tuple[list[int], list[int]]:
        """As Python's own lists, whose slices cost a tenth."""
        return self.start.tolist(), self.values.tolist()

    @property
    def count(self) -> Longs:
        return np.diff(self.start)

    @cached_property
    def owner(self) -> Longs:
        return np.repeat(np.arange(len(self.start) - 1), self.count)

    def at(self, place: int, missing: int = -1) -> Longs:
        """The value at a place of each row's list."""
        result = np.full(len(self.start) - 1, missing, np.int64)
        has = self.count > place
        result[has] = self.values[self.start[:-1][has] + place]
        return result


@dataclass(frozen=True, eq=False)
class Operations:
    """The instructions of a module, in the proto's order.

    Attributes:
      opcode: fixed-width byte strings.     computation: index of the instruction's own.
      operands: instructions.               called: computations.
      roots: the root instruction of each computation.      entry: the entry computation.
    """

    names: list[bytes]
    opcode: npt.NDArray[np.bytes_]
    computation: Longs
    shapes: Shapes
    operands: Lists
    called: Lists
    computations: list[str]
    roots: Longs
    entry: int
    _data: Bytes = field(repr=False)
    _raw: bytes = field(repr=False)
    _start: Longs = field(repr=False)
    _end: Longs = field(repr=False)
    _outline: tuple[Any, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, *opcodes: bytes) -> Longs:
        return np.flatnonzero(np.isin(self.opcode, opcodes))

    def message(self, row: int) -> bytes:
        """An instruction's whole message."""
        return self._raw[self._start[row] : self._end[row]]

    def fields(self, rows: Longs, *numbers: int) -> dict[int, protowire.Field]:
        """Raw fields of some instructions; a Field's `row` indexes `rows`."""
        return protowire.read(self._data, self._start[rows], self._end[rows], numbers)

    def inside(self, of: protowire.Field, *numbers: int) -> dict[int, protowire.Field]:
        """Fields of the messages that a field holds; `row` indexes the messages."""
        return protowire.read(self._data, of.offset, of.offset + of.size, numbers)

    def lists(self, of: protowire.Field, n: int) -> Lists:
        """A repeated number as lists, one for each of n messages."""
        owner, values = protowire.packed(self._data, of)
        return lists(owner, values, n)

    def strings(self, of: protowire.Field, n: int) -> list[bytes]:
        return protowire.strings(self._raw, of, n)


def lists(owner: Longs, values: Longs, n: int) -> Lists:
    """Lists out of (owner, value) pairs that are ordered by owner."""
    return Lists(np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))]).astype(np.int64), values)


def read(proto: bytes, known: Operations | None = None) -> Operations:
    """Read a serialised HloModuleProto; where it has the instructions of `known`, it is that.

    Raises ValueError (DecodeError) on malformed bytes.
    """
    module = schema.Module.FromString(proto)
    blobs = [list(computation.instructions) for computation in module.computations]
    sizes = np.fromiter((len(blob) for part in blobs for blob in part), np.int64)
    raw = b"".join(blob for part in blobs for blob in part)
    outline = (
        module.entry_computation_id,
        [(c.id, c.name, c.root_id, len(c.instructions)) for c in module.computations],
    )
    if known is not None and known._outline == outline and known._raw == raw:
        return known
    data, end = protowire.buffer(raw), np.cumsum(sizes)
    n, start = len(sizes), np.cumsum(sizes) - sizes
    found = protowire.read(data, start, end, (schema.INSTRUCTION_NAME, schema.INSTRUCTION_OPCODE, *_SCALARS))
    ids = np.zeros(n, np.int64)
    ids[found[schema.INSTRUCTION_ID].row] = found[schema.INSTRUCTION_ID].value
    index = _index(ids)
    user, operand = protowire.packed(data, found[schema.INSTRUCTION_OPERANDS])
    caller, called = protowire.packed(data, found[schema.INSTRUCTION_CALLED])
    number = {c.id: i for i, c in enumerate(module.computations)}
    return Operations(
        names=protowire.strings(raw, found[schema.INSTRUCTION_NAME], n),
        opcode=protowire.short_strings(data, found[schema.INSTRUCTION_OPCODE], n, _OPCODE),
        computation=np.repeat(np.arange(len(blobs)), [len(part) for part in blobs]),
        shapes=hlo_shapes.read(data, found[SHAPE], n),
        operands=lists(user, index(operand), n),
        called=lists(caller, np.array([number.get(c, -1) for c in called.tolist()], np.int64), n),
        computations=[c.name for c in module.computations],
        roots=index(np.array([c.root_id for c in module.computations], np.int64)),
        entry=number.get(module.entry_computation_id, len(blobs) - 1),
        _data=data,
        _raw=raw,
        _start=start,
        _end=end,
        _outline=outline,
    )


def _index(ids: Longs) -> Any:
    """From an instruction's id to its row; -1 where there is none."""
    order = np.argsort(ids)

    def index_of(wanted: Longs) -> Longs:
        if not len(ids):
            return np.full(len(wanted), -1, np.int64)
        found = order[np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)]
        return np.where(ids[found] == wanted, found, -1)

    return index_of
