"""The one parsed form of an HLO module: its instructions as columns, the rest as a small protobuf message."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from jaxstage_ext.ir.hlo import large_literals, schema
from jaxstage_ext.ir.hlo import shapes as hlo_shapes
from jaxstage_ext.ir.hlo.places import inline_places
from jaxstage_ext.ir.hlo.places.inline_places import InlinePlace
from jaxstage_ext.ir.hlo.shapes import Shapes
from jaxstage_ext.ir.sources import links
from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.ir.wire.messages import Messages, joined
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.frames import Ints
from jaxstage_ext.report.numbering import Numbering

BOOKKEEPING = (b"parameter", b"constant", b"tuple", b"get-tuple-element", b"bitcast")
"""Opcodes that compute nothing: they do not count in a document's coverage."""
COLLECTIVE_KINDS = (
    b"all-reduce",
    b"all-gather",
    b"reduce-scatter",
    b"all-to-all",
    b"ragged-all-to-all",
    b"collective-permute",
    b"collective-broadcast",
)
COLLECTIVES = (*COLLECTIVE_KINDS, *(kind + b"-start" for kind in COLLECTIVE_KINDS))
"""Opcodes that exchange data between devices; of an asynchronous pair, the opcode that starts it."""
_OPCODE_WIDTH = 32
_FIELDS = (
    schema.INSTRUCTION_NAME,
    schema.INSTRUCTION_OPCODE,
    schema.INSTRUCTION_SHAPE,
    schema.INSTRUCTION_METADATA,
    schema.INSTRUCTION_ID,
    schema.INSTRUCTION_OPERANDS,
    schema.INSTRUCTION_CALLED,
)


@dataclass(frozen=True, eq=False)
class Module(Messages):
    """The instructions of an HLO module as columns, in the proto's order.

    The messages are those of the instructions: `fields`, `message` and the other methods of Messages read what has no
    column here. Shapes and the graph are decoded when they are first asked for.
    """

    header: Any = field(repr=False)
    """The HloModuleProto without its instructions, and with the places of source in their own metadata among its stack
    frames."""
    names: list[bytes]
    """Instruction names without "%"; unique in a module."""
    opcode: npt.NDArray[np.bytes_]
    """Fixed-width byte strings."""
    computation: Longs
    """The index of the computation that each instruction belongs to."""
    ids: Longs
    """XLA's number of each instruction."""
    operands: Lists
    """Rows of each instruction's operands, -1 for an unknown id."""
    called: Lists
    """Indices of the computations that each instruction calls, -1 for an unknown id."""
    stack_frame: Longs
    """XLA's frame number, 0 for none."""
    scope: Ints
    """Index into `scopes`, -1 for none."""
    scopes: tuple[str, ...]
    shape_field: protowire.Field = field(repr=False)
    header_as_read: Any = field(default=None, repr=False)
    """Without those."""

    @cached_property
    def computations(self) -> list[str]:
        """The names of the computations."""
        return [computation.name for computation in self.header.computations]

    @cached_property
    def computation_of_id(self) -> dict[int, int]:
        """The index of a computation by XLA's number."""
        return _numbered(self.header)

    @cached_property
    def entry(self) -> int:
        """The index of the computation that runs first; -1 in a module without computations."""
        return self.computation_of_id.get(self.header.entry_computation_id, len(self.header.computations) - 1)

    @cached_property
    def roots(self) -> Longs:
        """The row of each computation's root instruction."""
        return self.rows_of_ids(np.array([computation.root_id for computation in self.header.computations], np.int64))

    @cached_property
    def shapes(self) -> Shapes:
        """The shape of each instruction's result."""
        return hlo_shapes.read(self.data, self.shape_field, len(self))

    @cached_property
    def graph(self) -> links.LinkGraph:
        """Edges along which the source of an instruction may be inferred."""
        user, operand = self.operands.owner, self.operands.values
        caller, called = self.called.owner, self.called.values
        use, call = operand >= 0, called >= 0
        caller, called = caller[call], called[call]
        caller_of = np.full(len(self.computations), -1, np.int64)
        caller_of[called[::-1]] = caller[::-1]
        return links.graph(
            (user[use], operand[use]),
            (caller, self.roots[called]),
            caller_of[self.computation],
            self.opcode == b"parameter",
            self.opcode == b"tuple",
        )

    @property
    def counts(self) -> npt.NDArray[np.bool_]:
        """Whether each instruction computes something."""
        return ~np.isin(self.opcode, BOOKKEEPING)

    @property
    def fusions(self) -> int:
        """How many instructions are fusions."""
        return int((self.opcode == b"fusion").sum())

    def rows(self, *opcodes: bytes) -> Longs:
        """The instructions with one of these opcodes."""
        return np.flatnonzero(np.isin(self.opcode, opcodes))

    def rows_of_ids(self, ids: Longs) -> Longs:
        """The row of the instruction with each id; -1 where the module has none."""
        return _lookup(self._by_id, ids)

    @cached_property
    def _by_id(self) -> tuple[Longs, Longs]:
        return _sorted(self.ids)


def parse(proto: bytes, known: Module | None = None) -> Module:
    """Read a serialised HloModuleProto, or return `known` where that is the same module.

    Raises ValueError on malformed bytes.
    """
    header, (raw, end), counts = _split(proto)
    if known is not None and known.raw == raw and known.header_as_read == header:
        return known
    data, n = np.frombuffer(raw, np.uint8), len(end)
    fields = protowire.read(data, end - np.diff(end, prepend=0), end, _FIELDS)
    ids = np.zeros(n, np.int64)
    ids[fields[schema.INSTRUCTION_ID].row] = fields[schema.INSTRUCTION_ID].value
    user, operand = protowire.packed(data, fields[schema.INSTRUCTION_OPERANDS])
    caller, called = protowire.packed(data, fields[schema.INSTRUCTION_CALLED])
    numbered = _numbered(header)
    metadata = fields[schema.INSTRUCTION_METADATA]
    stack_frame, scope, scopes = _metadata(raw, metadata, n)
    with_places = _with_inline_places(header, raw, metadata, stack_frame)
    return Module(
        raw,
        end,
        with_places,
        names=protowire.strings(raw, fields[schema.INSTRUCTION_NAME], n),
        opcode=protowire.short_strings(data, fields[schema.INSTRUCTION_OPCODE], n, _OPCODE_WIDTH),
        computation=np.repeat(np.arange(len(counts)), counts),
        ids=ids,
        operands=lists(user, _lookup(_sorted(ids), operand), n),
        called=lists(caller, np.array([numbered.get(i, -1) for i in called.tolist()], np.int64), n),
        stack_frame=stack_frame,
        scope=scope,
        scopes=scopes,
        shape_field=fields[schema.INSTRUCTION_SHAPE],
        header_as_read=header,
    )


def _split(proto: bytes) -> tuple[Any, tuple[bytes, Longs], list[int]]:
    """(the module without instructions, the instructions joined, how many each computation has).

    Instructions are without large literals.
    """
    try:
        whole = schema.Module.FromString(large_literals.cut(proto))
    except DecodeError as e:
        why = "a name in it is not text (UTF-8)" if "UTF-8" in str(e) else f"not a serialised HloModuleProto: {e}"
        raise ValueError(why) from e
    blobs = [blob for computation in whole.computations for blob in computation.instructions]
    counts = [len(computation.instructions) for computation in whole.computations]
    for computation in whole.computations:
        computation.ClearField("instructions")
    whole.DiscardUnknownFields()
    header = schema.Module()
    header.CopyFrom(whole)  # `whole` would keep the memory of all instructions
    return header, joined(blobs), counts


def _numbered(header: Any) -> dict[int, int]:
    return {computation.id: i for i, computation in enumerate(header.computations)}


def _metadata(raw: bytes, field: protowire.Field, rows: int) -> tuple[Longs, Ints, tuple[str, ...]]:
    """(stack frame of each instruction, index of its scope, the scopes)."""
    data = np.frombuffer(raw, np.uint8)
    parts = protowire.read(
        data, field.offset, field.offset + field.size, (schema.METADATA_OP_NAME, schema.METADATA_STACK_FRAME)
    )
    frame = np.zeros(rows, np.int64)
    stack = parts[schema.METADATA_STACK_FRAME]
    frame[field.row[stack.row]] = stack.value
    names = Numbering[bytes]()
    scope = np.full(rows, -1, np.int32)
    op_names = protowire.strings(raw, parts[schema.METADATA_OP_NAME], len(field.row))
    scope[field.row] = [names[name] if name else -1 for name in op_names]
    return frame, scope, tuple(name.decode("utf-8", "replace") for name in names)


_PLACE = (
    schema.METADATA_SOURCE_FILE,
    schema.METADATA_SOURCE_LINE,
    schema.METADATA_END_LINE,
    schema.METADATA_COLUMN,
    schema.METADATA_END_COLUMN,
)


def _with_inline_places(header: Any, raw: bytes, field: protowire.Field, stack_frame: Longs) -> Any:
    """The header with the places that instructions without a stack frame have themselves, which get its number."""
    data, count = np.frombuffer(raw, np.uint8), len(field.row)
    parts = protowire.read(data, field.offset, field.offset + field.size, _PLACE)
    if not len(parts[schema.METADATA_SOURCE_FILE].row):
        return header
    files = protowire.strings(raw, parts[schema.METADATA_SOURCE_FILE], count)
    numbers = np.zeros((count, len(_PLACE) - 1), np.int64)
    for at, part in enumerate(_PLACE[1:]):
        numbers[parts[part].row, at] = parts[part].value
    places = [
        InlinePlace(file.decode("utf-8", "replace"), *line) if file and line[0] > 0 and not frame else None
        for file, line, frame in zip(files, numbers.tolist(), stack_frame[field.row].tolist(), strict=True)
    ]
    made = schema.Module()
    made.CopyFrom(header)
    added = np.array(inline_places.add(made.stack_frame_index, places), np.int64)
    stack_frame[field.row] = np.where(added > 0, added, stack_frame[field.row])
    return made


def _sorted(ids: Longs) -> tuple[Longs, Longs]:
    order = np.argsort(ids, kind="stable")
    return order, ids[order]


def _lookup(by_id: tuple[Longs, Longs], wanted: Longs) -> Longs:
    order, ids = by_id
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[place] == wanted, order[place], -1)


_NAME, _SHAPES, _LISTS, _EDGE = 70, 100, 100, 120
"""Bytes of memory: of a name; of an instruction's shape, its two lists as Python lists, and an edge, once decoded."""


def size(module: Module) -> int:
    """About how many bytes of memory a module takes once all of it is decoded."""
    lists_of = (module.operands.start, module.operands.values, module.called.start, module.called.values)
    columns = (module.opcode, module.computation, module.ids, module.stack_frame, module.scope, module.end)
    arrays = sum(int(column.nbytes) for column in (*columns, *lists_of, *module.shape_field))
    edges = len(module.operands.values) + len(module.called.values)
    return len(module.raw) + arrays + (_NAME + _SHAPES + _LISTS) * len(module) + _EDGE * edges
