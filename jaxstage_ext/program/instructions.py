"""The instructions of the optimised module, and where each stands: its row, its source line, its name scope."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.ir.hlo import module
from jaxstage_ext.ir.hlo import operations as hlo_ops
from jaxstage_ext.ir.hlo.operations import Operations
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames

_OF_LATER_COMPILE = "instructions of a later compile"


@fact
def operations(program: Program) -> Operations:
    """The instructions of the optimised module. Raises Unavailable where there is none."""
    return hlo_ops.read(program.proto(), program.results.known(_OF_LATER_COMPILE))


def operations_of(program: Program, proto: bytes) -> Operations:
    """The instructions of a module that a later compile gave; where it is the same, those that are held already."""
    ops = hlo_ops.read(proto, operations.known(program))
    program.results.put(_OF_LATER_COMPILE, ops)
    return ops


_places: WeakKeyDictionary[Operations, Places] = WeakKeyDictionary()


def places_of(program: Program, ops: Operations) -> Places:
    """Where instructions stand: the optimised module's, or those of a later compile, which have the same names."""
    if ops not in _places:
        _places[ops] = places_in(program.documents["hlo"], ops)
    return _places[ops]


def places_in(document: Document, ops: Operations) -> Places:
    """Where each instruction stands in the HLO document, and which source line and name scope it has."""
    row = _with_started(ops, module.rows_of(document.text, ops.names))
    known = row >= 0
    frame = np.where(known, document.user_frame[np.maximum(row, 0)], -1)
    scope = np.where(known, document.scope[np.maximum(row, 0)], -1)
    labels = {int(f): line_label(document.frames, int(f)) for f in np.unique(frame)}
    groups = [*map(_group, document.scopes), ""]
    return Places(row, [labels[f] for f in frame.tolist()], [groups[s] for s in scope.tolist()])


def _with_started(ops: Operations, row: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """What runs asynchronously is left out of the text: it stands where its start does."""
    owner, called = ops.called.owner, ops.called.values
    starts = (ops.opcode[owner] == b"async-start") & (called >= 0)
    starter = np.full(len(ops.computations), -1, np.int64)
    starter[called[starts]] = row[owner[starts]]
    return np.where(row < 0, starter[ops.computation], row)


def _group(scope: str) -> str:
    """A name stack without its last part, the primitive."""
    return scope.rpartition("/")[0]


def line_label(frames: Frames, frame: int) -> str:
    """Cell or file, and line, of a frame; "" where there is none."""
    if frame < 0:
        return ""
    span = frames.span(frame)
    return f"{span.cell or span.file}:{span.line}"
