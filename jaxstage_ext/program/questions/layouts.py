"""The layouts of a program's arguments and results, and the copies that a layout forced."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.analysis.layouts.layout_text import ArrayLayout
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.jax_private.given_layouts import given_layouts
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import HOST
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import loop_copies
from jaxstage_ext.program.questions.refused_shardings import argument_names
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of
from jaxstage_ext.report.text.units import plural
from jaxstage_ext.report.unavailable import Unavailable

_COPIES, _TRANSPOSE = (b"copy", b"copy-start"), b"transpose"
_PERMUTED = re.compile(r", dimensions=\{([\d,]+)\}")
_DEFAULT = "default"
_NO_COPIES = "No copy changes a layout or moves to or from the host's memory."
_NO_COPIES_BUT_SLICES = (
    "No copy changes a layout. {slices} in the host's memory read or write parts of arrays, each time that they run."
)
_SLICES = (b"dynamic-slice", b"dynamic-update-slice", b"dynamic-slice-start", b"dynamic-update-slice-start")
_BY_TRANSPOSES = (
    "On GPUs, XLA changes a layout by a transpose, often within a fusion; those that the program itself asks for are "
    "listed too."
)


@dataclass(frozen=True)
class Layouts:
    """How the arrays of a program lie in memory; prints as its tables."""

    values: Table
    """A row for each argument and result."""
    copies: Table
    """Those that change a layout, or move to or from the host's memory; the largest first."""

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """Those of arguments and results as versioned JSON; `limit`, `by` and `where` as of `Table.to_json`."""
        return self.values.to_json(**rows)

    def _parts(self) -> list[Part]:
        return [self.values, "", self.copies]

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self._parts())


@fact
def layouts(program: Program) -> Layouts:
    """The layouts in the optimised module. Raises Unavailable where there is none."""
    if not program.has_hlo:
        raise Unavailable(f"{program.name} was not compiled, and XLA chooses layouts when it compiles")
    return Layouts(_values(program), _copies(program))


def _values(program: Program) -> Table:
    head = program.documents["hlo"].lines[0]
    parameters, results = (list(filter(_is_array, side)) for side in layout_text.of_entry(head))
    where, lowered = platform(program), program.jax_lowered
    names = _names(program, len(parameters), len(results))
    asked = given_layouts(program.jax_traced, lowered) if lowered is not None else ([], [])
    kinds = ["argument"] * len(parameters) + ["result"] * len(results)
    chosen = [*_asked(asked[0], len(parameters)), *_asked(asked[1], len(results))]
    all_of_them = [*parameters, *results]
    columns = {
        "value": Column(names),
        "kind": Column(kinds),
        "type": Column([layout.type for layout in all_of_them]),
        "layout": Column(
            [layout.text or "{}" for layout in all_of_them], doc="as HLO writes it, minor dimension first"
        ),
        "in words": Column([replace(layout, space=0).in_words(where) for layout in all_of_them]),
        "memory": Column([layout.memory(where) for layout in all_of_them]),
        "chosen by": Column(chosen, doc="you, XLA where you asked for Layout.AUTO, or the default"),
    }
    return Table("layouts", columns)


def _is_array(layout: ArrayLayout) -> bool:
    """Whether it holds data: a token orders effects."""
    return layout.dtype != "token"


def _asked(given: list[str], count: int) -> list[str]:
    return given if len(given) == count else [_DEFAULT] * count


def _names(program: Program, parameters: int, results: int) -> list[str]:
    """The names of arguments that XLA is given, and of results; by number where JAX does not say them."""
    traced, lowered = program.jax_traced, program.jax_lowered
    arguments: list[str] = []
    outputs: list[str] = []
    if lowered is not None:
        signature = lowered_modules.signature(traced, lowered, captured.namer(program.call.fn))
        named = argument_names(program.call, signature.arguments)
        token_arguments, token_results = signature.own_tokens
        arguments = [name for at, name in enumerate(named) if at in signature.kept and at not in token_arguments]
        outputs = [name for at, name in enumerate(signature.results) if at not in token_results]
    arguments = arguments if len(arguments) == parameters else [f"parameter {at}" for at in range(parameters)]
    outputs = outputs if len(outputs) == results else [f"result {at}" for at in range(results)]
    return [*arguments, *outputs]


def _copies(program: Program) -> Table:
    """Copies whose operand lies otherwise than their result, or whose two sides are the device and the host.

    XLA for GPUs has one layout for all, and makes a transpose of each copy between two.
    """
    module, places, copied = program.module, instruction_places(program), program.module.operands.at(0)
    lines = program.documents["hlo"].lines
    rows = []
    where = platform(program)
    by_transposes = where not in ("cpu", "tpu")
    for number in _executed(module, by_transposes):
        row, source_row = int(places.row[number]), int(places.row[copied[number]])
        if row < 0 or source_row < 0:
            continue
        made, source = _first_array(lines[row]), _first_array(lines[source_row])
        if made and source and module.opcode[number] == _TRANSPOSE:
            made = _in_terms_of(source, made, lines[row])
        if made and source and (_differs(made, source) or _crosses(made, source)):
            rows.append((number, row, source, made, int(module.shapes.bytes[copied[number]])))
    rows.sort(key=lambda one: -one[4])
    columns = {
        "instruction": Column([module.names[number].decode() for number, *_ in rows]),
        "type": Column([_type(source, made) for _, _, source, made, _ in rows]),
        "from layout": Column([layout_text.differing(source, made, where) for _, _, source, made, _ in rows]),
        "to layout": Column([layout_text.differing(made, source, where) for _, _, source, made, _ in rows]),
        "changes": Column([_change(source, made) for _, _, source, made, _ in rows]),
        "bytes": Column([size for *_, size in rows], "B", doc="of the array that is copied"),
        "line": Column([places.line[number] for number, *_ in rows]),
        "row": Column([row for _, row, *_ in rows]),
    }
    with_transposes = any(module.opcode[number] == _TRANSPOSE for number, *_ in rows)
    notes = (() if rows else (_no_copies(module),)) + ((_BY_TRANSPOSES,) if with_transposes else ())
    listed = {number for number, *_ in rows}
    every = loop_copies.read(module, places, argument_names_of_module(program))
    again = [copy for copy in every if copy.row not in listed]
    notes += (loop_copies.note(module, again),) if again else ()
    return Table("copies", columns, {}, notes)


def argument_names_of_module(program: Program) -> dict[int, str]:
    """The names of the entry's parameters by number."""
    return dict(enumerate(_names(program, _parameters(program.module), 0)))


def _no_copies(module: Module) -> str:
    """That no whole array is copied; slices of arrays in the host's memory are moved without a copy."""
    slices = module.rows(*_SLICES)
    used = [[int(row), *(of for of in module.operands[row] if of >= 0)] for row in slices.tolist()]
    count = sum(bool(module.shapes.host[rows].any()) for rows in used)
    if not count:
        return _NO_COPIES
    return _NO_COPIES_BUT_SLICES.format(slices=plural(count, "dynamic slice or update", "dynamic slices or updates"))


def _parameters(module: Module) -> int:
    """How many parameters the entry has."""
    return int((module.computation[module.rows(b"parameter")] == module.entry).sum())


def _in_terms_of(source: ArrayLayout, made: ArrayLayout, line: str) -> ArrayLayout:
    """What a transpose makes, with the dimensions of its operand."""
    found = _PERMUTED.search(line)
    order = [int(dimension) for dimension in found[1].split(",")] if found else []
    if sorted(order) != list(range(len(source.sizes))) or len(made.order) != len(order):
        return made
    return replace(made, sizes=source.sizes, order=tuple(order[dimension] for dimension in made.order))


def _type(source: ArrayLayout, made: ArrayLayout) -> str:
    """The type of the array that is copied, on TPUs also converted."""
    return made.type if made.dtype == source.dtype else f"{source.type} to {made.dtype}"


def _first_array(line: str) -> ArrayLayout | None:
    """The layout of what an instruction makes, of a tuple its first part."""
    shape = line.partition(" = ")[2].partition("]")
    return next(iter(layout_text.read(shape[0] + "]" + shape[2].partition("}")[0] + "}")), None)


def _differs(made: ArrayLayout, source: ArrayLayout) -> bool:
    return (made.order, made.tiles, made.bits) != (source.order, source.tiles, source.bits)


def _crosses(made: ArrayLayout, source: ArrayLayout) -> bool:
    return (made.space == HOST) != (source.space == HOST)


def _change(source: ArrayLayout, made: ArrayLayout) -> str:
    if not _crosses(made, source):
        return "layout"
    way = "to host memory" if made.space == HOST else "from host memory"
    return f"layout, {way}" if _differs(made, source) else way


def _executed(module: Module, by_transposes: bool) -> list[int]:
    """The rows of copies that write their result: those by themselves, and those that a fusion ends with.

    `by_transposes` adds all transposes: a fusion that has one reads or writes in another order.
    """
    fused = np.isin(module.computation, module.called.at(0)[module.rows(b"fusion")])
    ends = np.isin(np.arange(len(module)), module.roots)
    is_copy = np.isin(module.opcode, _COPIES) & (~fused | ends)
    is_transpose = (module.opcode == _TRANSPOSE) & by_transposes
    return [int(row) for row in np.flatnonzero(is_copy | is_transpose)]
