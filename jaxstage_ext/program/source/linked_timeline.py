"""A recording linked to a program: its instructions to the lines of its documents and of the source."""

from __future__ import annotations

import functools

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.places.cached_places import CachedPlaces
from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.op_links import ShownModule
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source import recorded_lines
from jaxstage_ext.program.source.cached_lines import cached_lines
from jaxstage_ext.report.recording import Recording
from jaxstage_ext.report.unavailable import Unavailable


def linked(recording: Recording, program: Program) -> Timeline:
    """The timeline of a recording, its ops linked to the rows of the program's HLO where its module is what ran."""
    table = program.frame_table
    return Timeline(recording, op_links.places(recording, table, _shown(program), functools.partial(_places, program)))


def _places(program: Program, module: Module) -> CachedPlaces | None:
    """The places of a module that ran in this kernel; what another process recorded is not known here."""
    return None if program.is_foreign else recorded_lines.places_of_run(module, program.frame_table)


def _shown(program: Program) -> ShownModule | None:
    try:
        document = program.documents.get("hlo")
        if document is None:
            return None
        return ShownModule(program.module, document, cached_lines(program) is not None)
    except (ValueError, IndexError, OverflowError, Unavailable):  # a damaged module
        return None
