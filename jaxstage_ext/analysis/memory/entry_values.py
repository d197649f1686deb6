"""The arguments, results and captured constants of a program: names, bytes, donation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.memory import uses
from jaxstage_ext.analysis.memory.buffers import Buffers, ScheduledBuffers
from jaxstage_ext.analysis.memory.spaces import DEFAULT
from jaxstage_ext.ir.hlo import parts as hlo_parts
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import HOST
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.ir.wire.protowire import Longs

_PARAMETER_NUMBER = 9
LARGE = 1 << 20
"""Bytes from which a captured constant is looked up in the program; smaller ones count as kept."""


class Argument(NamedTuple):
    """An array that the function takes: its path, shape, and bytes on all devices together.

    `kept` is False where JAX pruned it because the function does not use it; XLA never sees it then.
    """

    name: str
    shape: str
    size: int | None
    donated: bool
    kept: bool


class Constant(NamedTuple):
    """An array that the program closes over; `names` are the Python names that refer to it, if any is known."""

    names: tuple[str, ...]
    shape: str
    size: int
    elements: int


@dataclass(frozen=True)
class EntryComputation:
    """What JAX calls the parameters and results of the module's entry."""

    arguments: tuple[Argument, ...]
    """In JAX's order."""
    results: tuple[str, ...]
    """Paths of the results."""
    constants: tuple[Constant, ...] = ()
    """The largest first."""
    tokens: int = 0
    """How many parameters before the arguments carry the order of effects."""

    @cached_property
    def kept(self) -> list[int]:
        """The arguments that are the module's parameters, in order."""
        return [i for i, argument in enumerate(self.arguments) if argument.kept]

    def of_parameter(self, number: int) -> int | None:
        """The argument that a parameter is; None for a token."""
        place = number - self.tokens
        return self.kept[place] if 0 <= place < len(self.kept) else None

    def parameter(self, buffers: Buffers, row: int) -> str:
        """The name of the argument in a buffer."""
        number = int(buffers.parameter[row])
        if number < 0:
            return "table of arguments"
        if number < self.tokens:
            return "token"
        argument = self.of_parameter(number)
        return self.arguments[argument].name if argument is not None else f"parameter {number}"

    def result(self, number: int) -> str:
        place = number - self.tokens
        if place < 0:
            return "token"
        return self.results[place] if 0 <= place < len(self.results) else f"result {number}"


def parameters(scheduled: ScheduledBuffers) -> dict[int, int]:
    """The buffer of each parameter of the module."""
    number = scheduled.buffers.parameter
    return {int(number[row]): int(row) for row in np.flatnonzero(number >= 0)}


class Donation(Enum):
    """What became of an argument's memory."""

    NOT_DONATED = "not donated"
    USED = "donated and used"
    UNUSED = "donated, and XLA used it for no result"
    ALIASED = "used without a donation"
    PRUNED = "the argument was pruned"
    DONATED_PRUNED = "donated, and the argument was pruned"


class ArgumentMemory(NamedTuple):
    """An argument of the function on one device."""

    name: str
    shape: str
    size: int | None
    """Bytes; None where JAX pruned it."""
    padding: int | None
    """Of these, bytes without data."""
    donated: bool
    kept: bool
    becomes: tuple[str, ...]
    """The results that take its memory."""
    read: bool
    """Whether an instruction reads it."""
    space: int = DEFAULT
    """XLA's number of the memory that holds it."""

    @property
    def donation(self) -> Donation:
        if not self.kept:
            return Donation.DONATED_PRUNED if self.donated else Donation.PRUNED
        if self.becomes:
            return Donation.USED if self.donated else Donation.ALIASED
        return Donation.UNUSED if self.donated else Donation.NOT_DONATED


class ResultMemory(NamedTuple):
    """A result of the module on one device.

    `in_memory_of` is the argument whose memory it takes, None for none; `space` is XLA's number of the memory.
    """

    name: str
    shape: str
    size: int
    padding: int
    in_memory_of: str | None
    space: int = DEFAULT


class KeptConstant(NamedTuple):
    """A captured array, and whether XLA kept it in the program."""

    names: tuple[str, ...]
    shape: str
    size: int
    in_program: bool


def arguments(scheduled: ScheduledBuffers, entry: EntryComputation | None) -> list[ArgumentMemory]:
    """The arguments in order; those that JAX pruned come last."""
    rows, aliases = parameters(scheduled), _aliases(scheduled, entry)
    entry = entry or _numbered(max(rows, default=-1) + 1)
    kept = [(argument, rows.get(i + entry.tokens), i + entry.tokens) for i, argument in enumerate(_kept(entry))]
    listed = [*kept, *((argument, None, -1) for argument in entry.arguments if not argument.kept)]
    read = np.zeros(len(scheduled.ops) + 1, bool)  # one more for an instruction that is unknown: -1
    read[scheduled.ops.operands.values] = read[scheduled.ops.roots] = True
    return [_argument(scheduled, argument, row, tuple(aliases.get(i, ())), read) for argument, row, i in listed]


def _argument(
    scheduled: ScheduledBuffers,
    argument: Argument,
    row: int | None,
    becomes: tuple[str, ...],
    read: npt.NDArray[np.bool_],
) -> ArgumentMemory:
    if row is None:
        known = (argument.shape, None, None)
        return ArgumentMemory(argument.name, *known, argument.donated, argument.kept, becomes, False)
    buffers = scheduled.buffers
    size, used, value = int(buffers.size[row]), int(buffers.used[row]), int(buffers.value[row])
    shape = (hlo_parts.text(scheduled.shapes, value) if value >= 0 else "") or argument.shape
    is_read = bool(read[buffers.instruction[row]])
    of_memory = (size, size - used, argument.donated, argument.kept, becomes, is_read, int(buffers.space[row]))
    return ArgumentMemory(argument.name, shape, *of_memory)


def of_module(module: Module, entry: EntryComputation | None) -> tuple[list[ArgumentMemory], list[ResultMemory]]:
    """Arguments and results by the optimised module alone, without its buffers."""
    rows, index = parameter_arrays(module)
    entry = entry or _numbered(len(rows))
    shapes = hlo_parts.read(module, rows, index)
    aliases: dict[int, list[str]] = {}
    for result, parameter in sorted(aliased_arguments(module).items()):
        aliases.setdefault(parameter, []).append(entry.result(result))
    read = np.zeros(len(module) + 1, bool)
    read[module.operands.values] = read[module.roots] = True
    given = []
    for place, argument in enumerate(_kept(entry)):
        number = place + entry.tokens
        if number >= len(rows):
            break
        size, used = int(shapes.padded[number]), int(shapes.bytes[number])
        of_memory = (size, size - used, argument.donated, True, tuple(aliases.get(number, ())))
        space = HOST if shapes.host[number] else DEFAULT
        shape = hlo_parts.text(shapes, number) or argument.shape
        given.append(ArgumentMemory(argument.name, shape, *of_memory, bool(read[rows[number]]), space))
    return given, _module_results(module, entry)


def parameter_arrays(module: Module) -> tuple[Longs, Lists]:
    """The entry's parameters in the order of their numbers; the parts of the one tuple where XLA is given that."""
    rows = module.rows(b"parameter")
    rows = rows[module.computation[rows] == module.entry]
    field = module.fields(rows, _PARAMETER_NUMBER)[_PARAMETER_NUMBER]
    number = np.zeros(len(rows), np.int64)
    number[field.row] = field.value
    rows = rows[np.argsort(number)]
    parts = hlo_parts.count(module, int(rows[0])) if len(rows) == 1 else None
    if parts is not None:
        return np.full(parts, rows[0]), lists(np.arange(parts), np.arange(parts), parts)
    return rows, lists(np.zeros(0, np.int64), np.zeros(0, np.int64), len(rows))


def _numbered(count: int) -> EntryComputation:
    """The entry of a function whose names are unknown."""
    return EntryComputation(
        tuple(Argument(f"parameter {number}", "", None, False, True) for number in range(count)), ()
    )


def _kept(entry: EntryComputation) -> list[Argument]:
    return [entry.arguments[i] for i in entry.kept]


def _aliases(scheduled: ScheduledBuffers, entry: EntryComputation | None) -> dict[int, list[str]]:
    """The results in each parameter's memory, by the parameter's number."""
    aliases: dict[int, list[str]] = {}
    for result, parameter in sorted(aliased_arguments(scheduled.ops).items()):
        aliases.setdefault(parameter, []).append(entry.result(result) if entry else f"result {result}")
    return aliases


def results(scheduled: ScheduledBuffers, entry: EntryComputation | None) -> list[ResultMemory]:
    """The results of the module, in order."""
    return _module_results(scheduled.ops, entry)


def _module_results(module: Module, entry: EntryComputation | None) -> list[ResultMemory]:
    root = int(module.roots[module.entry])
    rows, index = _result_arrays(root, hlo_parts.count(module, root))
    shapes = hlo_parts.read(module, rows, index)
    aliased = aliased_arguments(module)
    padded, data = shapes.padded.tolist(), shapes.bytes.tolist()
    return [
        ResultMemory(
            entry.result(i) if entry else f"result {i}",
            hlo_parts.text(shapes, i),
            padded[i],
            padded[i] - data[i],
            _owner(entry, aliased.get(i)),
            HOST if shapes.host[i] else DEFAULT,
        )
        for i in range(len(rows))
    ]


def _owner(entry: EntryComputation | None, number: int | None) -> str | None:
    if number is None:
        return None
    argument = entry.of_parameter(number) if entry else None
    return entry.arguments[argument].name if entry and argument is not None else f"parameter {number}"


def _result_arrays(root: int, parts: int | None) -> tuple[Longs, Lists]:
    """The root, or each part of its tuple."""
    if parts is None:
        return np.array([root]), lists(np.zeros(0, np.int64), np.zeros(0, np.int64), 1)
    return np.full(parts, root), lists(np.arange(parts), np.arange(parts), parts)


def results_in(scheduled: ScheduledBuffers, entry: EntryComputation | None) -> dict[int, list[str]]:
    """The results in each allocation."""
    root = int(scheduled.ops.roots[scheduled.ops.entry])
    parts = hlo_parts.count(scheduled.ops, root)
    sources = [(root, None)] if parts is None else [_source(scheduled, root, i) for i in range(parts)]
    index = scheduled.assignment.values.index
    made = {(int(row), *index[value]): value for value, row in enumerate(scheduled.row.tolist()) if row >= 0}
    place = dict(
        zip(
            scheduled.assignment.allocations.values.values.tolist(),
            scheduled.assignment.allocations.values.owner.tolist(),
            strict=True,
        )
    )
    results: dict[int, list[str]] = {}
    for number, (row, part) in enumerate(sources):
        value = made.get((row,) if part is None else (row, part))
        if value in place:
            results.setdefault(place[value], []).append(entry.result(number) if entry else f"result {number}")
    return results


def _source(scheduled: ScheduledBuffers, root: int, part: int) -> tuple[int, int | None]:
    """(instruction, part of its result) that makes one part of the root."""
    ops = scheduled.ops
    if ops.opcode[root] != b"tuple":
        return root, part
    row = ops.operands[root][part]
    while ops.opcode[row] in (b"bitcast", b"get-tuple-element"):
        operand = ops.operands[row][0]
        if ops.opcode[row] == b"get-tuple-element":
            field = ops.fields(np.array([row]), uses.TUPLE_INDEX)[uses.TUPLE_INDEX]
            return operand, int(field.value[0]) if len(field.row) else 0
        row = operand
    return row, None


def constants(scheduled: ScheduledBuffers, entry: EntryComputation | None) -> list[KeptConstant]:
    """The captured arrays. XLA may have folded one into something smaller, transposed or converted it."""
    captured = entry.constants if entry else ()
    shapes, rows = scheduled.ops.shapes, scheduled.ops.rows(b"constant")
    sizes = {shapes.elements[row] for row in rows if int(shapes.bytes[row]) >= LARGE // 8}
    return [
        KeptConstant(array.names, array.shape, array.size, array.size < LARGE or array.elements in sizes)
        for array in captured
    ]


def aliased_arguments(module: Module) -> dict[int, int]:
    """The number of the argument whose memory XLA reuses, by the number of the result."""
    return {
        (entry.output_shape_index or (0,))[0]: (entry.parameter_shape_index or (entry.parameter_number,))[0]
        for entry in module.header.input_output_alias.entries
    }
