"""Why the time of a layout is unknown, in one sentence each."""

from __future__ import annotations

from collections.abc import Sequence


def no_bandwidth(title: str) -> str:
    """A device of which nothing is on file."""
    return f"no memory bandwidth on file for {title}; layouts are ordered by what they compute, move and exchange"


def no_peak(title: str, dtypes: Sequence[str]) -> str:
    """A device without a peak for the dtypes of products."""
    return f"no peak on file for {', '.join(name or 'unknown dtypes' for name in dtypes)} products on {title}"


def unknown_trips(lines: Sequence[str]) -> str:
    """Loops whose number of iterations is unknown."""
    where = f" at {', '.join(lines[:3])}" if lines else ""
    return f"the number of iterations of a loop{where} is unknown; layouts are ordered by one iteration"
