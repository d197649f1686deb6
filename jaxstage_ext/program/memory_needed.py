"""The memory that a program takes on one device, where its executable tells."""

from __future__ import annotations

from jaxstage_ext.analysis.memory import fit
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.target_title import platform


def memory_needed(program: Program) -> int | None:
    """Bytes that the executable's buffers take on one device, on a TPU its code too; None where XLA does not say."""
    if program.executable is None:
        return None
    return fit.allocated(program.memory_statistics.sizes, platform(program))
