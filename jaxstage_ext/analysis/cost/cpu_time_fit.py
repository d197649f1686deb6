"""What programs on a CPU were measured to take beside their lower bounds; `python -m tests.estimates` prints it."""

from __future__ import annotations

from collections.abc import Mapping

FACTORS: Mapping[str, float] = {
    "products": 1.525,
    "arithmetic": 1.986,
    "moved": 2.267,
    "instructions": 0.0,
    "calls": 8.82e-6,
}
"""By which each term of `CpuWork` counts; that of calls, in seconds."""
RATIOS = (0.714, 3.504)
"""Of measured to predicted times, the 5th and the 95th percentile."""
MEDIAN_ERROR, HELD = 0.356, 0.825
"""Of each program predicted from the others: the median error, and the share for which such an interval held."""
PROGRAMS, MACHINE = 40, "Intel(R) Xeon(R) Processor, 2 cores"
