"""The source line that is shown of an operation, from the frames of the Python code that traced it."""

from __future__ import annotations

from pathlib import PurePath

from jaxstage_ext.ir.sources.source import cell_of, is_outside, is_user


def line_of(frames: tuple[tuple[str, int], ...]) -> str:
    """The line, "file.py:12" or "In [3]:4", of the innermost frame of the user's; "" where there is none.

    `frames` are (file, line), the innermost first.
    """
    for file, line in frames:
        if is_user(file) and not is_outside(file):
            return f"{cell_of(file) or PurePath(file).name}:{line}"
    return ""
