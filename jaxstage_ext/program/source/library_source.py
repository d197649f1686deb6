"""The source of a library as far as a program went through it, to be read beside the user's own."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir import python
from jaxstage_ext.ir.sources.source_regions import UsedPlace
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.saved.saved_source import SOURCE
from jaxstage_ext.report.unavailable import Unavailable

PREFIX = "python:"
"""How the kinds of these documents begin; the library follows, or `frames.EVERYTHING`, or "" for the user's files."""


def library_source(program: Program, library: str) -> Document | None:
    """The functions of a library that the program's frames are in; None where no frame is in it.

    "" stands for the user's own files, which are given whole. Neither is ever saved.

    Raises Unavailable for a saved program, whose files are those of another day or of someone else's machine.
    """
    if program.saved_summary is not None:
        raise Unavailable("the source of libraries is not saved; inspect it again")
    if not library:
        return _whole_files(program)
    frames, kind = program.frames, f"{PREFIX}{library}"
    if not len(shown := frames.inside(library)):
        return None
    return program.results.once(kind, lambda: python.read(frames, program.frame_table, shown, kind=kind))


def _whole_files(program: Program) -> Document | None:
    """The files that the source is from, all lines of them. None where there is no source."""
    if SOURCE not in program.documents:
        return None
    source, frames = program.documents[SOURCE], program.frames
    assert source.file is not None
    names = [frames.files[file].name for file in dict.fromkeys(source.file.tolist()) if file >= 0]
    first, none = [(name, UsedPlace(1, 1)) for name in names], np.zeros(0, np.int32)
    return program.results.once(
        PREFIX, lambda: python.read(frames, program.frame_table, none, first, kind=PREFIX, whole=True)
    )
