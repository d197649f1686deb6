"""The processes of a job by their indices, in words."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 8
"""Indices and runs of them that are named."""


def process_names(indices: Sequence[int], most: int = _MOST) -> str:
    """`process 3`, `processes 0 and 1`, `processes 0 to 3 and 5`, `processes 0, 2 and 60 more`; ascending indices."""
    if len(indices) == 1:
        return f"process {indices[0]}"
    return f"processes {process_numbers(indices, most)}"


def process_numbers(indices: Sequence[int], most: int = _MOST) -> str:
    """The same without the noun; "" for none."""
    runs = _runs(indices)
    named = [_run(run) for run in runs[:most]]
    if left := sum(map(len, runs[most:])):
        return f"{', '.join(named)} and {left:,} more"
    return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))


def _runs(indices: Sequence[int]) -> list[list[int]]:
    """Three or more that follow one another together, each other one alone."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return [part for run in runs for part in ([run] if len(run) > 2 else [[index] for index in run])]


def _run(run: Sequence[int]) -> str:
    return f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0])
