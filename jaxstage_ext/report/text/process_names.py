"""The processes of a job by their indices, in words."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.shortened import some

_MOST = 8


def process_names(indices: Sequence[int]) -> str:
    """`process 3`, `processes 0 and 1`, `processes 0 to 3`, `processes 0, 2, 5 and 60 more`; ascending indices."""
    if len(indices) == 1:
        return f"process {indices[0]}"
    return f"processes {process_numbers(indices)}"


def process_numbers(indices: Sequence[int]) -> str:
    """The same without the noun; "" for none."""
    if len(indices) > 1 and list(indices) == list(range(indices[0], indices[-1] + 1)):
        return f"{indices[0]} {'and' if len(indices) == 2 else 'to'} {indices[-1]}"
    return some([*map(str, indices)], _MOST)
