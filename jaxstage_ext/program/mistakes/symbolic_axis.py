"""A program with symbolic sizes, which XLA cannot compile."""

from __future__ import annotations

import jax

from jaxstage_ext.core.given import symbolic
from jaxstage_ext.core.stage.staged import TRACE
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError


def explanation(program: Program, error: StageError) -> str | None:
    """Which axes have no size; None for a program without such axes, and for one that was not traced."""
    if error.stage == TRACE:
        return None
    axes = sorted(symbolic.names(jax.tree.leaves((program.call.args, dict(program.call.kwargs)))))
    return f"{symbolic.missing(axes)}." if axes else None
