"""Whether a program needs so much memory that less is worth computing more, or one thing after another."""

from __future__ import annotations

from jaxstage_ext.analysis.memory import fit
from jaxstage_ext.findings.finding import Stake
from jaxstage_ext.program.comparing.comparison_figures import target_figures
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.table import is_number

SCARCE = 0.2
"""Of the device's memory, what the program has to need."""


def share(program: Program, stake: Stake) -> float:
    """Of the memory needed; where JAX does not say that, of what arguments, results and temporaries take."""
    if stake.share is not None:
        return stake.share
    return (stake.most or 0.0) / max(fit.without_constants(program.memory_statistics.sizes), 1)


def is_scarce(program: Program, part: float | None = None) -> bool:
    """Whether the program needs this part, by default `SCARCE`, of the device's memory; true where that is unknown."""
    figures = target_figures(program).figures
    capacity, needed = figures["capacity"].value, figures["memory"].value
    if not is_number(capacity) or not is_number(needed):
        return True
    return float(needed) >= (SCARCE if part is None else part) * float(capacity)
