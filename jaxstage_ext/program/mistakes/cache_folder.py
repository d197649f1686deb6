"""A compile that fails because JAX cannot open the folder of its persistent cache, and is told to raise that."""

from __future__ import annotations

from jaxstage_ext.compilation.persistent import opening_note
from jaxstage_ext.core.jax_private import persistent_cache
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError


def explanation(program: Program, error: StageError) -> str | None:
    """Which folder, and that the program itself is not at fault; None for another error."""
    if error.exception is None or not persistent_cache.failed_to_open(error.exception):
        return None
    return opening_note.not_opened(persistent_cache.state().set_folder)
