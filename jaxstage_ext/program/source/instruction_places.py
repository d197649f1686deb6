"""Where each instruction of the optimised module stands: its row in the HLO document, source line and name scope."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.ir.hlo import text_rows
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import INFERRED, Document
from jaxstage_ext.report.frames import Frames


@fact
def instruction_places(program: Program) -> Places:
    """Where each instruction of the optimised module stands. Raises Unavailable where there is none."""
    return places_in(program.documents["hlo"], program.module)


def places_in(document: Document, module: Module) -> Places:
    """Where the instructions of a module, this one or that of a later compile, stand in the HLO document."""
    row = _with_started(module, text_rows.read(document.text, module.names).row)
    known = row >= 0
    frame = np.where(known, document.user_frame[np.maximum(row, 0)], -1)
    scope = np.where(known, document.scope[np.maximum(row, 0)], -1)
    labels = {int(f): line_label(document.frames, int(f)) for f in np.unique(frame)}
    groups = [*map(_group, document.scopes), ""]
    inferred = known & (document.flags[np.maximum(row, 0)] & INFERRED != 0)
    return Places(row, [labels[f] for f in frame.tolist()], [groups[s] for s in scope.tolist()], inferred)


def _with_started(module: Module, row: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """What runs asynchronously is left out of the text: it stands where its start does."""
    owner, called = module.called.owner, module.called.values
    starts = (module.opcode[owner] == b"async-start") & (called >= 0)
    starter = np.full(len(module.computations), -1, np.int64)
    starter[called[starts]] = row[owner[starts]]
    return np.where(row < 0, starter[module.computation], row)


def _group(scope: str) -> str:
    """A name stack without its last part, the primitive."""
    return scope.rpartition("/")[0]


def line_label(frames: Frames, frame: int) -> str:
    """Cell or file, and line, of a frame; "" where there is none."""
    if frame < 0:
        return ""
    span = frames.span(frame)
    return f"{span.label}:{span.line}"
