"""Optimised HLO as a Document: XLA's text for the eye, the proto for everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir import links, protowire
from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.protowire import Bytes, Longs
from jaxstage_ext.ir.source import FrameTable, Location, is_outside
from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.frames import Ints

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
"""Opcodes that exchange data between devices; where one starts and another ends it, the one that starts."""
ESTIMATE = b'"estimated_cycles":"'
"""How the TPU compiler writes its estimate of an instruction into the backend's configuration."""


@dataclass(frozen=True, eq=False)
class Module:
    """The instructions of an HLO module as columns, in the proto's order.

    Attributes:
      names: instruction names without "%"; unique in a module.
      opcode: fixed-width byte strings (24 bytes).
      computation: per instruction, its computation's index.
      stack_frame: XLA's frame number, 0 none.   scope: index into `scopes`, -1 none.
      graph: operand and call edges.
      ids: XLA's number of each instruction.   entry: the index of the computation that runs first.
      raw: the serialised instructions on end, `ends` where each stops; empty where nothing in it is looked for.
    """

    names: list[bytes]
    opcode: npt.NDArray[np.bytes_]
    computation: Longs
    stack_frame: Longs
    scope: Ints
    scopes: tuple[str, ...]
    graph: links.Graph
    stack_frame_index: Any
    ids: Longs
    entry: int
    raw: bytes
    ends: Longs

    @property
    def counts(self) -> npt.NDArray[np.bool_]:
        """Which instructions compute something."""
        return ~np.isin(self.opcode, BOOKKEEPING)

    @property
    def fusions(self) -> int:
        return int((self.opcode == b"fusion").sum())


def parse(proto: bytes) -> Module:
    """Read a serialised HloModuleProto. Raises ValueError (DecodeError) on malformed bytes."""
    module = schema.Module.FromString(proto)
    blobs = [list(computation.instructions) for computation in module.computations]
    sizes = np.fromiter((len(blob) for part in blobs for blob in part), np.int64)
    raw = b"".join(blob for part in blobs for blob in part)
    data, end = protowire.buffer(raw), np.cumsum(sizes)
    n = len(sizes)
    fields = protowire.read(
        data,
        end - sizes,
        end,
        (
            schema.INSTRUCTION_NAME,
            schema.INSTRUCTION_OPCODE,
            schema.INSTRUCTION_METADATA,
            schema.INSTRUCTION_ID,
            schema.INSTRUCTION_OPERANDS,
            schema.INSTRUCTION_CALLED,
        ),
    )
    computation = np.repeat(np.arange(len(blobs)), [len(part) for part in blobs])
    stack_frame, scope, scopes = _metadata(data, raw, fields[schema.INSTRUCTION_METADATA], n)
    opcode = protowire.short_strings(data, fields[schema.INSTRUCTION_OPCODE], n, 24)
    ids = np.zeros(n, np.int64)
    ids[fields[schema.INSTRUCTION_ID].row] = fields[schema.INSTRUCTION_ID].value
    numbers = {c.id: i for i, c in enumerate(module.computations)}
    return Module(
        names=protowire.strings(raw, fields[schema.INSTRUCTION_NAME], n),
        opcode=opcode,
        computation=computation,
        stack_frame=stack_frame,
        scope=scope,
        scopes=scopes,
        graph=_graph(module, data, fields, computation, opcode, ids, numbers),
        stack_frame_index=module.stack_frame_index,
        ids=ids,
        entry=numbers.get(module.entry_computation_id, -1),
        raw=raw if ESTIMATE in raw or np.isin(opcode, COLLECTIVES).any() else b"",
        ends=end,
    )


def size(module: Module) -> int:
    """About how many bytes of memory the columns take."""
    edges = (module.graph.by_user, module.graph.by_operand, module.graph.by_called)
    return 166 * len(module.names) + len(module.raw) + sum(ends.nbytes for edge in edges for ends in edge)


def _metadata(data: Bytes, raw: bytes, field: protowire.Field, rows: int) -> tuple[Longs, Ints, tuple[str, ...]]:
    parts = protowire.read(
        data, field.offset, field.offset + field.size, (schema.METADATA_OP_NAME, schema.METADATA_STACK_FRAME)
    )
    frame = np.zeros(rows, np.int64)
    stack = parts[schema.METADATA_STACK_FRAME]
    frame[field.row[stack.row]] = stack.value
    names: dict[bytes, int] = {}
    scope = np.full(rows, -1, np.int32)
    op_names = protowire.strings(raw, parts[schema.METADATA_OP_NAME], len(field.row))
    scope[field.row] = [names.setdefault(name, len(names)) if name else -1 for name in op_names]
    return frame, scope, tuple(name.decode("utf-8", "replace") for name in names)


def _graph(
    module: Any,
    data: Bytes,
    fields: dict[int, protowire.Field],
    computation: Longs,
    opcode: npt.NDArray[np.bytes_],
    ids: Longs,
    numbers: dict[int, int],
) -> links.Graph:
    """Edges along which a source may be inferred."""
    n = len(computation)
    order = np.argsort(ids)

    def index_of(wanted: Longs) -> Longs:
        place = np.minimum(np.searchsorted(ids, wanted, sorter=order), n - 1)
        found = order[place]
        return np.where(ids[found] == wanted, found, -1)

    user, operand_id = protowire.packed(data, fields[schema.INSTRUCTION_OPERANDS])
    operand = index_of(operand_id) if n else operand_id
    caller, called_id = protowire.packed(data, fields[schema.INSTRUCTION_CALLED])
    called = np.array([numbers.get(i, -1) for i in called_id.tolist()], np.int64)
    caller, called = caller[called >= 0], called[called >= 0]
    root = index_of(np.array([c.root_id for c in module.computations], np.int64)) if n else called
    caller_of = np.full(len(module.computations), -1, np.int64)
    caller_of[called[::-1]] = caller[::-1]
    known = operand >= 0
    user, operand = user[known], operand[known]
    return links.graph(
        (user, operand), (caller, root[called]), caller_of[computation], opcode == b"parameter", opcode == b"tuple"
    )


def read(text: str, module: Module, table: FrameTable) -> Document:
    """The document of a module from its text (metadata not printed) and its columns."""
    linked = sources(module, table)
    row_of, instruction_of, n, ends = _rows(text, module)
    columns = [np.full(n, -1, np.int32) for _ in range(3)]
    row_flags = np.zeros(n, np.uint8)
    rows = np.flatnonzero(instruction_of >= 0)
    instructions = instruction_of[rows]
    for column, values in zip(columns, (linked.frame, linked.scope, linked.origin), strict=True):
        column[rows] = values[instructions]
    row_flags[rows] = linked.flags[instructions]
    row_frame, row_scope, row_origin = columns
    inferred = row_origin >= 0
    row_origin[inferred] = row_of[row_origin[inferred]]
    return Document("hlo", text, table.freeze(), row_frame, row_flags, ends, row_scope, module.scopes, row_origin)


def frames_of(index: Any, used: Longs, table: FrameTable) -> Ints:
    """Per XLA frame number (0 is none): the frame in `table`, -1 outside the user's program.

    Only the frames in use are added, each with the callers up to the first that is outside.
    """
    result = np.full(len(index.stack_frames) + 1, -1, np.int32)
    for number in used[(used > 0) & (used < len(result))].tolist():
        chain = []
        while number and result[number] < 0 and (where := _location(index, number)) is not None:
            chain.append((number, where))
            number = index.stack_frames[number - 1].parent_frame_id
        frame = int(result[number])
        for number, where in reversed(chain):
            result[number] = frame = table.add(where, frame)
    return result


def _location(index: Any, number: int) -> Location | None:
    place = index.file_locations[index.stack_frames[number - 1].file_location_id - 1]
    file = index.file_names[place.file_name_id - 1]
    if is_outside(file):
        return None
    return Location(
        file,
        index.function_names[place.function_name_id - 1] if place.function_name_id else "",
        place.line,
        place.column + 1,
        max(place.end_line, place.line),
        place.end_column + 1 if place.end_column else 0,
    )


def sources(module: Module, table: FrameTable) -> links.Links:
    """Per instruction where it came from; its stacks go into `table`."""
    frames = frames_of(module.stack_frame_index, np.unique(module.stack_frame), table)
    frame = frames[np.where(module.stack_frame < len(frames), module.stack_frame, 0)]
    flags = (module.counts * OP).astype(np.uint8)
    return links.complete(frame, module.scope, flags, module.scopes, table.freeze(), module.graph)


def rows(text: str, module: Module) -> Longs:
    """Per instruction: its row in the module's text, -1 where it has none."""
    return _rows(text, module)[0]


def _rows(text: str, module: Module) -> tuple[Longs, Longs, int, Ints]:
    """(row of each instruction, instruction of each row or -1, number of rows, folds)."""
    return _rows_by_name(text, module.names)


def _rows_by_name(text: str, names: list[bytes]) -> tuple[Longs, Longs, int, Ints]:
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
    found = [numbers.get(raw[a:b], -1) for a, b in zip(name_start[rows].tolist(), name_end.tolist(), strict=True)]
    instruction_of = np.full(len(start), -1, np.int64)
    instruction_of[rows] = found
    row_of = np.full(len(names), -1, np.int64)
    known = instruction_of >= 0
    row_of[instruction_of[known]] = np.flatnonzero(known)
    return row_of, instruction_of, len(start), _folds(data, start, stop)


def rows_of(text: str, names: list[bytes]) -> Longs:
    """The row of each instruction in a module's text; -1 for one that the text leaves out."""
    return _rows_by_name(text, names)[0]


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
