"""The memory that a program takes on one device, where its executable tells."""

from __future__ import annotations

from jaxstage_ext.analysis.memory import embedded_constants, fit
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.program import Program


def memory_needed(program: Program) -> int | None:
    """Bytes that the executable's buffers take on one device, on a TPU its code too; None where XLA does not say.

    With the constants inside a CPU's fusions, which XLA's statistics leave out.
    """
    if program.executable is None:
        return None
    where = platform(program)
    allocated = fit.allocated(program.memory_statistics.sizes, where)
    if allocated is None or not program.has_hlo:
        return allocated
    return allocated + embedded_constants.size(program.module, where)
