"""Documents beside those of the stages, of which there are many: modules between passes, texts of kernels."""

from __future__ import annotations

from jaxstage_ext.ir.passes import pass_document
from jaxstage_ext.program.kernels import kernels
from jaxstage_ext.program.passes import module_after
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import Document


def extra_document(program: Program, kind: str) -> Document | None:
    """The module after a pass, "pass:12", or a kernel's text, "stage:kernel"; None where it was not read before."""
    if kind.startswith(pass_document.PREFIX):
        return module_after(program, kind)
    listed = kernels.known(program)
    return None if listed is None else listed.ready(kind)
