"""Errors whose message says everything: a notebook shows them below the user's frames, without ours."""

from __future__ import annotations

import contextlib
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

_PACKAGE = str(Path(__file__).resolve().parents[1]) + "/"
_BLOCKS = contextlib.__file__
"""Stands between the user and a `with` block of ours."""


class DeliberateError(Exception):
    """Says what happened, quotes the value, says what to do. It is raised on purpose, so where in here is of no use."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in place of the whole traceback."""
        frames = frames_above_ours(self.__traceback__)
        if (shell := _shell()) is None:
            return traceback.format_exception(type(self), self, frames)
        return list(shell.InteractiveTB.structured_traceback(type(self), self, frames))


def frames_above_ours(outermost: TracebackType | None) -> TracebackType | None:
    """A copy of the traceback that ends where this package begins."""
    frames = []
    while outermost is not None and not outermost.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        frames.append(outermost)
        outermost = outermost.tb_next
    while frames and frames[-1].tb_frame.f_code.co_filename == _BLOCKS:
        frames.pop()
    kept = None
    for frame in reversed(frames):
        kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
