"""What programs on a CPU were measured to take beside their lower bounds; `python -m tests.estimates` prints it."""

from __future__ import annotations

from collections.abc import Mapping

FACTORS: Mapping[str, float] = {
    "products": 1.561,
    "arithmetic": 1.544,
    "moved": 2.218,
    "instructions": 0.0,
    "calls": 7.29e-6,
}
"""By which each term of `CpuWork` counts; that of calls, in seconds."""
RATIOS = (0.81, 3.97)
"""Of measured to predicted times, the 5th and the 95th percentile."""
MEDIAN_ERROR, HELD = 0.24, 0.825
"""Of each program predicted from the others: the median error, and the share for which such an interval held.

The machine was busy: other programs wanted seven cores of its two, and the fastest of all runs counts.
"""
PROGRAMS, MACHINE = 40, "Intel(R) Xeon(R) Processor, 2 cores"
