"""A recording linked to a program: its instructions to the lines of its documents and of the source."""

from __future__ import annotations

from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.op_links import ShownModule
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.recording import Recording
from jaxstage_ext.report.unavailable import Unavailable


def linked(recording: Recording, program: Program) -> Timeline:
    """The timeline of a recording, its ops linked to the rows of the program's HLO where its module is what ran."""
    return Timeline(recording, op_links.places(recording, program.frame_table, _shown(program)))


def _shown(program: Program) -> ShownModule | None:
    try:
        document = program.documents.get("hlo")
        return ShownModule(program.module, document) if document is not None else None
    except (ValueError, IndexError, OverflowError, Unavailable):  # a damaged module
        return None
