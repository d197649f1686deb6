"""The source of a library as far as a program went through it, to be read beside the user's own."""

from __future__ import annotations

from jaxstage_ext.ir import python
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.unavailable import Unavailable

PREFIX = "python:"
"""How the kinds of these documents begin; the library follows, or `frames.EVERYTHING`."""


def library_source(program: Program, library: str) -> Document | None:
    """The functions of a library that the program's frames are in; None where no frame is in it.

    Raises Unavailable for a saved program, whose files are those of another day or of someone else's machine.
    """
    if program.saved_summary is not None:
        raise Unavailable("the source of libraries is not saved; inspect it again")
    frames, kind = program.frames, f"{PREFIX}{library}"
    if not library or not len(shown := frames.inside(library)):
        return None
    return program.results.once(kind, lambda: python.read(frames, program.frame_table, shown, kind=kind))
