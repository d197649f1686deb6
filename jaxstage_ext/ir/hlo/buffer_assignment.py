"""XLA's buffer assignment as columns: which values a program keeps in memory, where, and for how long.

Numbers: xla/service/buffer_assignment.proto and hlo.proto in openxla/xla.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.ir.wire.messages import Messages
from jaxstage_ext.ir.wire.protowire import Field, Longs

ALLOC, FREE, SHARE = 0, 1, 2
_ID, _SIZE, _DEFINED, _COLOR = 1, 2, 3, 4
_INSTRUCTION, _INDEX = 4, 3
_BUFFER, _OFFSET = 1, 2
_KIND, _EVENT_BUFFER, _CANONICAL = 1, 2, 5
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Values:
    """Values that need memory (XLA's logical buffers)."""

    instruction: Longs
    """Id of the instruction that makes it."""
    index: Lists
    """Which part of its result; () for the whole result."""
    size: Longs
    """Bytes, padding included."""
    color: Longs
    """Memory space."""


@dataclass(frozen=True, eq=False)
class Allocations:
    """Pieces of memory."""

    size: Longs
    """Bytes.  color: memory space.  argument: whether it holds one."""
    color: Longs
    parameter: Longs
    """Which argument, also where all arguments are one tuple; -1 for none and for the table of that tuple."""
    argument: Bools
    output: Bools
    """Whether it may hold a result in the end."""
    constant: Bools
    local: Bools
    """Whether it is on a thread's stack or in registers."""
    tuples: Bools
    values: Lists
    """The values in it; `offset` goes with `values.values`."""
    offset: Longs

    def __len__(self) -> int:
        return len(self.size)

    @property
    def held(self) -> Bools:
        """Whether it is kept as long as the program runs: arguments, results, constants."""
        return self.argument | self.output | self.constant

    @property
    def temporary(self) -> Bools:
        return ~self.held & ~self.local


@dataclass(frozen=True, eq=False)
class Trace:
    """The events of XLA's heap simulator for the values of one temporary allocation."""

    kind: Longs
    """ALLOC, FREE or SHARE.  value: which value."""
    value: Longs
    canonical: Longs
    """For SHARE, the value whose memory it takes."""
    ordered: bool
    """Whether the events follow the schedule of the whole module, so that no value overlaps a live one."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """The buffer assignment of a module."""

    module: bytes
    values: Values
    allocations: Allocations
    traces: tuple[Trace, ...]


def read(proto: bytes) -> Assignment | None:
    """Read a serialised HloProto; None without a buffer assignment. Raises ValueError on malformed bytes."""
    try:
        dumped = schema.Dumped.FromString(proto)
    except DecodeError as error:
        raise ValueError(f"not a buffer assignment: {error}") from None
    if not dumped.HasField("buffer_assignment") or not dumped.buffer_assignment.buffer_allocations:
        return None
    assignment = dumped.buffer_assignment
    ids, values = _values(assignment.logical_buffers)
    row = _rows(ids)
    traces = tuple(_trace(trace, row) for trace in assignment.heap_simulator_traces)
    return Assignment(dumped.hlo_module, values, _allocations(assignment.buffer_allocations, row), traces)


def _column(messages: Messages, field: Field) -> Longs:
    """The number in a field of each message, 0 where it is absent."""
    values = np.zeros(len(messages), np.int64)
    values[field.row] = field.value
    return values


def _values(blobs: Sequence[bytes]) -> tuple[Longs, Values]:
    """(ids, values)."""
    raw = Messages.of(blobs)
    fields = raw.fields(np.arange(len(raw)), _ID, _SIZE, _DEFINED, _COLOR)
    defined = fields[_DEFINED]
    inner = raw.inside(defined, _INSTRUCTION, _INDEX)
    instruction = np.full(len(raw), -1, np.int64)
    instruction[defined.row] = 0  # which proto3 leaves out
    instruction[defined.row[inner[_INSTRUCTION].row]] = inner[_INSTRUCTION].value
    index = raw.lists(inner[_INDEX], len(defined.row))
    owner = defined.row[index.owner]
    by_value = np.argsort(owner, kind="stable")
    parts = lists(owner[by_value], index.values[by_value], len(raw))
    size, color = _column(raw, fields[_SIZE]), _column(raw, fields[_COLOR])
    return _column(raw, fields[_ID]), Values(instruction, parts, size, color)


def _rows(ids: Longs) -> dict[int, int]:
    return {value: row for row, value in enumerate(ids.tolist())}


def _looked_up(row: dict[int, int], ids: Longs) -> Longs:
    return np.fromiter((row.get(i, -1) for i in ids.tolist()), np.int64, len(ids))


def _trace(trace: object, row: dict[int, int]) -> Trace:
    events = Messages.of(trace.events)  # type: ignore[attr-defined]
    fields = events.fields(np.arange(len(events)), _KIND, _EVENT_BUFFER, _CANONICAL)
    return Trace(
        _column(events, fields[_KIND]),
        _looked_up(row, _column(events, fields[_EVENT_BUFFER])),
        _looked_up(row, _column(events, fields[_CANONICAL])),
        bool(trace.whole_module_simulation),  # type: ignore[attr-defined]
    )


def _allocations(allocations: Sequence[object], row: dict[int, int]) -> Allocations:
    n = len(allocations)
    assigned = Messages.of([blob for allocation in allocations for blob in allocation.assigned])  # type: ignore[attr-defined]
    fields = assigned.fields(np.arange(len(assigned)), _BUFFER, _OFFSET)
    counts = [len(allocation.assigned) for allocation in allocations]  # type: ignore[attr-defined]
    owner = np.repeat(np.arange(n), counts)

    def column(name: str, dtype: type) -> npt.NDArray[np.generic]:
        return np.fromiter((getattr(allocation, name) for allocation in allocations), dtype, n)

    argument = column("is_entry_computation_parameter", bool).astype(bool)
    number = column("parameter_number", np.int64).astype(np.int64)
    indices = [allocation.parameter_shape_index for allocation in allocations]  # type: ignore[attr-defined]
    part = np.array([(index or (-1,))[0] for index in indices], np.int64)
    if (part >= 0).any():
        number = np.where(argument, part, -1)
    return Allocations(
        size=column("size", np.int64).astype(np.int64),
        color=column("color", np.int64).astype(np.int64),
        parameter=np.where(argument, number, -1),
        argument=argument,
        output=column("maybe_live_out", bool).astype(bool),
        constant=column("is_constant", bool).astype(bool),
        local=column("is_thread_local", bool).astype(bool),
        tuples=column("is_tuple", bool).astype(bool),
        values=lists(owner, _looked_up(row, _column(assigned, fields[_BUFFER])), n),
        offset=_column(assigned, fields[_OFFSET]),
    )
