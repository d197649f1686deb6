"""How far predicted times are from measured ones on this machine: runs the programs, writes a table, fits factors.

`python -m tests.estimates TABLE.json` on a machine with nothing else to do, first with `%targets --measure`'s ceilings,
which it measures. A table that is there keeps the faster run of each program. On a GPU `python -m tests.estimates
TABLE.json h100:1` writes XLA's estimates beside the measured times; they are for the report, and nothing is fitted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np

import jaxstage_ext
from jaxstage_ext.analysis.cost.cpu_time import TERMS
from jaxstage_ext.core.targets import machine_ceilings
from tests.estimates import comparison, cpu_programs, fit


def main(path: Path, target: str | None = None) -> None:
    """Measure all programs and say what came out."""
    if jax.default_backend() == "cpu" and machine_ceilings.of_this_machine() is None:
        print(jaxstage_ext.measure_ceilings())
    measured = [comparison.compared(program, target) for program in cpu_programs.programs()]
    measured = comparison.faster(measured, comparison.read(path)) if path.exists() else measured
    machine = f"{machine_ceilings.cpu_model()}, {machine_ceilings.cores()} cores" if target is None else target
    comparison.write(path, measured, machine)
    for one in measured:
        print(f"{one.name:24} {1e6 * one.seconds:12.1f} µs measured")
    if target is None:
        _print_fit(fit.fit(measured), machine, len(measured))
    else:
        known = [one for one in measured if one.estimate is not None]
        errors = [abs((one.estimate or 0.0) - one.seconds) / one.seconds for one in known]
        print(
            f"XLA estimates {len(known)} of {len(measured)}; median error {np.median(errors) if errors else np.nan:.0%}"
        )


def _print_fit(found: fit.Fit, machine: str, programs: int) -> None:
    """The constants of `analysis/cost/cpu_time_fit.py`."""
    print(f"FACTORS = {dict(zip(TERMS, found.factors, strict=True))}")
    print(f"RATIOS = {found.ratios}\nMEDIAN_ERROR, HELD = {found.median:.3f}, {found.held:.3f}")
    print(f'PROGRAMS, MACHINE = {programs}, "{machine}"')


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
