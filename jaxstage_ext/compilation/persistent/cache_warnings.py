"""Warnings about JAX's persistent cache, placed at the user's line. They never raise into a compile."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from types import FrameType

import jax


class PersistentCacheWarning(UserWarning):
    """Something is wrong with JAX's persistent compilation cache."""


_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_LIBRARIES = (_OURS + os.sep, os.path.dirname(jax.__file__) + os.sep)


def warn(text: str) -> None:
    """Warn at the innermost line outside JAX and JAXStage."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        frame = frame.f_back
    file, line = (frame.f_code.co_filename, frame.f_lineno) if frame else ("<unknown>", 1)
    with contextlib.suppress(PersistentCacheWarning):  # warnings that are errors are not raised inside a compile
        warnings.warn_explicit(text, PersistentCacheWarning, file, line)
