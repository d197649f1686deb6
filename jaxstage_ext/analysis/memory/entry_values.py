"""What goes into a program and what comes out of it: names, bytes, donation, and what XLA made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxstage_ext.analysis.memory import uses
from jaxstage_ext.analysis.memory.buffers import Buffers, Laid
from jaxstage_ext.ir.hlo import aliases
from jaxstage_ext.ir.hlo import parts as hlo_parts
from jaxstage_ext.ir.lists import Lists, lists
from jaxstage_ext.ir.protowire import Longs
from jaxstage_ext.report.table import Column, Table

LARGE = 1 << 20
"""Bytes from which it is checked whether XLA kept a captured constant."""


class Argument(NamedTuple):
    """An array that the function takes: its path, bytes on all devices together, whether it was donated, and kept.

    JAX prunes what the function does not use: `kept` is False, and XLA never sees it.
    """

    name: str
    shape: str
    size: int | None
    donated: bool
    kept: bool


class Constant(NamedTuple):
    """An array that the program closes over; `names` are those by which the function knows it, if any is known."""

    names: tuple[str, ...]
    shape: str
    size: int
    elements: int


@dataclass(frozen=True)
class Entry:
    """The function's side of the module's entry.

    Attributes:
      arguments: in JAX's order.   results: paths of the results.   constants: the largest first.
      tokens: parameters before them that carry the order of effects.
    """

    arguments: tuple[Argument, ...]
    results: tuple[str, ...]
    constants: tuple[Constant, ...] = ()
    tokens: int = 0

    @cached_property
    def kept(self) -> list[int]:
        """The arguments that are the module's parameters, in order."""
        return [i for i, argument in enumerate(self.arguments) if argument.kept]

    def of_parameter(self, number: int) -> int | None:
        """Which argument a parameter is; None for one that is none."""
        place = number - self.tokens
        return self.kept[place] if 0 <= place < len(self.kept) else None

    def parameter(self, buffers: Buffers, row: int) -> str:
        """The name of the argument in a buffer."""
        number = int(buffers.parameter[row])
        if number < 0:
            return "table of arguments"
        argument = self.of_parameter(number)
        return self.arguments[argument].name if argument is not None else f"parameter {number}"

    def result(self, number: int) -> str:
        place = number - self.tokens
        if place < 0:
            return "token"
        return self.results[place] if 0 <= place < len(self.results) else f"result {number}"


def parameters(laid: Laid) -> dict[int, int]:
    """The buffer of each parameter of the module."""
    found = laid.buffers
    return {int(found.parameter[row]): int(row) for row in np.flatnonzero(found.parameter >= 0)}


def arguments(laid: Laid, entry: Entry | None) -> Table:
    """One row an argument; those that JAX pruned come last."""
    rows = parameters(laid)
    taken = _taken(laid, entry)
    if entry is None:
        entry = Entry(
            tuple(Argument(f"parameter {n}", "", None, False, True) for n in range(max(rows, default=-1) + 1)), ()
        )
    kept = [(argument, rows.get(i + entry.tokens), i + entry.tokens) for i, argument in enumerate(_kept(entry))]
    listed = [*kept, *((argument, None, -1) for argument in entry.arguments if not argument.kept)]
    found, read = laid.buffers, np.zeros(len(laid.ops) + 1, bool)  # one more for an instruction that is unknown: -1
    read[laid.ops.operands.values] = read[laid.ops.roots] = True
    size = [float(found.size[row]) if row is not None else np.nan for _, row, _ in listed]
    used = [float(found.used[row]) if row is not None else np.nan for _, row, _ in listed]
    columns = {
        "argument": Column([argument.name for argument, _, _ in listed]),
        "size": Column(np.array(size, np.float64), "B", "bytes on each device"),
        "padding": Column(np.array(size, np.float64) - np.array(used, np.float64), "B"),
        "shape": Column([_shape(laid, row) or argument.shape for argument, row, _ in listed], "", "on each device"),
        "donated": Column([argument.donated for argument, _, _ in listed]),
        "its memory becomes": Column([", ".join(taken.get(number, ())) for _, _, number in listed]),
        "state": Column([_state(argument, taken.get(number, ())) for argument, _, number in listed]),
        "used": Column([row is not None and bool(read[found.instruction[row]]) for _, row, _ in listed]),
    }
    pruned = {
        (i, "size"): "JAX pruned it: the function does not use it, so that it never reaches the device"
        for i, (argument, _, _) in enumerate(listed)
        if not argument.kept
    }
    return Table("arguments", columns, pruned)


def _kept(entry: Entry) -> list[Argument]:
    return [entry.arguments[i] for i in entry.kept]


def _shape(laid: Laid, row: int | None) -> str:
    value = int(laid.buffers.value[row]) if row is not None else -1
    return hlo_parts.text(laid.shapes, value) if value >= 0 else ""


def _state(argument: Argument, taken: Sequence[str]) -> str:
    if not argument.kept:
        return "donated, but unused: pruned by JAX" if argument.donated else "unused: pruned by JAX"
    if taken:
        return "donated, and its memory used" if argument.donated else "its memory used"
    return "donated, but XLA uses its memory for no result" if argument.donated else "not donated"


def _taken(laid: Laid, entry: Entry | None) -> dict[int, list[str]]:
    """The results in each parameter's memory, by the parameter's number."""
    taken: dict[int, list[str]] = {}
    for result, parameter in sorted(aliases.of_results(laid.ops).items()):
        taken.setdefault(parameter, []).append(entry.result(result) if entry else f"result {result}")
    return taken


def results(laid: Laid, entry: Entry | None) -> Table:
    """One row a result of the module."""
    root = int(laid.ops.roots[laid.ops.entry])
    parts = np.maximum(_elements(laid, root), 0)
    rows, index = _each(root, int(parts), laid)
    shapes = hlo_parts.read(laid.ops, rows, index)
    given = aliases.of_results(laid.ops)
    inside = [given.get(i) for i in range(len(rows))]
    columns = {
        "result": Column([entry.result(i) if entry else f"result {i}" for i in range(len(rows))]),
        "size": Column(shapes.padded, "B", "bytes on each device, padding included"),
        "padding": Column(shapes.padded - shapes.bytes, "B"),
        "shape": Column([hlo_parts.text(shapes, i) for i in range(len(rows))], "", "on each device"),
        "in memory of": Column(
            [_owner(entry, number) for number in inside], "", "the donated argument that it replaces"
        ),
    }
    return Table("results", columns)


def _owner(entry: Entry | None, number: int | None) -> str:
    if number is None:
        return ""
    argument = entry.of_parameter(number) if entry else None
    return entry.arguments[argument].name if entry and argument is not None else f"parameter {number}"


def _elements(laid: Laid, root: int) -> int:
    """How many results the entry has: a tuple's parts, or -1 for a lone array."""
    shape = hlo_parts.count(laid.ops, root)
    return shape if shape is not None else -1


def _each(root: int, parts: int, laid: Laid) -> tuple[Longs, Lists]:
    if _elements(laid, root) < 0:
        return np.array([root]), lists(np.zeros(0, np.int64), np.zeros(0, np.int64), 1)
    return np.full(parts, root), lists(np.arange(parts), np.arange(parts), parts)


def results_in(laid: Laid, entry: Entry | None) -> dict[int, list[str]]:
    """The results in each allocation."""
    root = int(laid.ops.roots[laid.ops.entry])
    parts = hlo_parts.count(laid.ops, root)
    sources = [(root, None)] if parts is None else [_source(laid, root, i) for i in range(parts)]
    index = laid.assignment.values.index
    made = {(int(row), *index[value]): value for value, row in enumerate(laid.row.tolist()) if row >= 0}
    place = dict(
        zip(
            laid.assignment.allocations.values.values.tolist(),
            laid.assignment.allocations.values.owner.tolist(),
            strict=True,
        )
    )
    found: dict[int, list[str]] = {}
    for number, (row, part) in enumerate(sources):
        value = made.get((row,) if part is None else (row, part))
        if value in place:
            found.setdefault(place[value], []).append(entry.result(number) if entry else f"result {number}")
    return found


def _source(laid: Laid, root: int, part: int) -> tuple[int, int | None]:
    """(instruction, part of its result) that makes one part of the root."""
    ops = laid.ops
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


def constants(laid: Laid, entry: Entry | None) -> Table:
    """One row a captured array; XLA may have folded it into something smaller. It may transpose or convert one, too."""
    found = entry.constants if entry else ()
    shapes, rows = laid.ops.shapes, laid.ops.rows(b"constant")
    there = {shapes.elements[row] for row in rows if int(shapes.bytes[row]) >= LARGE // 8}
    columns = {
        "constant": Column([", ".join(constant.names) or "unknown" for constant in found]),
        "size": Column(np.array([constant.size for constant in found], np.int64), "B"),
        "shape": Column([constant.shape for constant in found]),
        "in the program": Column([constant.size < LARGE or constant.elements in there for constant in found]),
    }
    return Table("constants", columns)
