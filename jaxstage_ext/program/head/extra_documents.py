"""Documents beside those of the stages, which are many: libraries, modules between passes, texts of kernels."""

from __future__ import annotations

from jaxstage_ext.ir.passes import pass_document
from jaxstage_ext.program.machine_code.kernels import kernels
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.passes import module_after
from jaxstage_ext.program.source import library_source
from jaxstage_ext.report.document import Document


def extra_document(program: Program, kind: str) -> Document | None:
    """The source of a library, "python:flax", the module after a pass, "pass:12", or a kernel's text, "stage:kernel".

    None where there is none; the last two are not read before somebody asked for the passes or kernels.
    """
    if kind.startswith(library_source.PREFIX):
        return library_source.library_source(program, kind.removeprefix(library_source.PREFIX))
    if kind.startswith(pass_document.PREFIX):
        return module_after(program, kind)
    listed = kernels.known(program)
    return None if listed is None else listed.ready(kind)
