"""An executable is called where JAX traces."""

from __future__ import annotations

from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError

_REFUSED = "Cannot apply JAX transformations to a function lowered and compiled"


def explanation(program: Program, error: StageError) -> str | None:
    """That a Compiled cannot be traced; None for another error."""
    if _REFUSED not in error.message:
        return None
    return (
        "A Compiled is machine code for one signature: jit, grad and vmap cannot trace it. Call the function that it "
        "was compiled from, or call the Compiled outside of them."
    )
