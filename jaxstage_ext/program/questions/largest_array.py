"""The largest array that a compiled program makes, which its HLO tells without a compile more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import instruction_places

_VIEWS = (b"bitcast", b"tuple", b"get-tuple-element", b"while", b"conditional", b"call", b"constant")
_ENDS = (b"-done", b"-update")


class LargestArray(NamedTuple):
    """An array in the device's memory that is no argument."""

    instruction: int
    shape: str
    """As JAX writes it."""
    sizes: tuple[int, ...]
    size: int
    """Its bytes."""
    line: str
    row: int
    """`line`, `row`: the source line ("" unknown) and the row of the HLO document."""


def largest_array(program: Program) -> LargestArray | None:
    """The largest; None where there is none, or its shape is not known."""
    module, places = program.module, instruction_places(program)
    rows = in_memory(module)
    rows = rows[module.opcode[rows] != b"parameter"]
    if not len(rows):
        return None
    largest = int(rows[np.argmax(module.shapes.bytes[rows])])
    row = int(places.row[largest])
    found = _largest_shape(program, row)
    if found is None:
        return None
    return LargestArray(largest, *found, int(module.shapes.bytes[largest]), places.line[largest], row)


def in_memory(module: Module) -> npt.NDArray[Any]:
    """The instructions that have an array of their own in the device's memory."""
    fusions = module.opcode[module.called.owner] == b"fusion"
    inside = np.isin(module.computation, module.called.values[fusions])
    inside |= (module.opcode == b"parameter") & (module.computation != module.entry)
    here = (module.shapes.apart == 0) & ~inside & ~np.isin(module.opcode, _VIEWS)
    return np.flatnonzero(here & ~np.array([opcode.endswith(_ENDS) for opcode in module.opcode.tolist()], bool))


def _largest_shape(program: Program, row: int) -> tuple[str, tuple[int, ...]] | None:
    if row < 0:
        return None
    text = program.documents["hlo"].lines[row].partition(" = ")[2]
    found = layout_text.read(text[: text.find(" ", 1)] if not text.startswith("(") else text[: text.find(")") + 1])
    every = [(one.type, tuple(one.sizes)) for one in found]
    return max(every, key=lambda one: np.prod(one[1], dtype=float), default=None)
