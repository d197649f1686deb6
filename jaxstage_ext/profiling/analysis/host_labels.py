"""The lines of Python that a profile saw the host at, as people name them."""

from __future__ import annotations

import os

from jaxstage_ext.ir.sources.source import cell_of
from jaxstage_ext.report.frames import Frames, SourceFile
from jaxstage_ext.report.recording import HostLine


class HostLabels:
    """Labels of host lines: the cell or file, and the line."""

    def __init__(self, frames: Frames) -> None:
        self._files = {file.name: file for file in frames.files}

    def label(self, line: HostLine | None) -> str | None:
        """`In [3]:7`, `train.py:12`; None where there is none."""
        if line is None:
            return None
        known = self._files.get(line.file) or SourceFile(line.file, cell_of(line.file))
        return f"{known.label}:{line.line}"

    def file(self, line: HostLine) -> str:
        """The name of its file without the folder, or of its cell."""
        known = self._files.get(line.file) or SourceFile(line.file, cell_of(line.file))
        return known.cell or os.path.basename(known.label)
