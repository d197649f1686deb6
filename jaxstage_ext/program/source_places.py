"""Where a reader of the user's source starts."""

from __future__ import annotations

import inspect as _inspect
from collections.abc import Iterable
from types import CodeType
from typing import Any

import numpy as np

from jaxstage_ext.core.call import Call
from jaxstage_ext.ir.source import is_user
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames, Ints, SourceFile


def first_places(call: Call, error: StageError | None) -> list[tuple[str, int]]:
    """(file, line) where a reader of the source starts: the line of the error, then the function itself."""
    places = []
    if error is not None and (span := error.span) is not None:
        places.append((span.file, span.line))
    code = _code(call.fn)
    if code is not None and is_user(code.co_filename):
        places.append((code.co_filename, code.co_firstlineno))
    return places


def shown_frames(frames: Frames, documents: Iterable[Document], package: str) -> Ints:
    """The user's own frames, and those of the inspected package that operations are linked to."""
    linked = [document.user_frame[document.user_frame >= 0] for document in documents]
    own = frames.inside("")
    return np.union1d(own, np.intersect1d(np.concatenate([own, *linked]), frames.inside(package)))


def inspected_package(call: Call) -> str:
    """The installed package that the function is in, such as "flax"; "" for the user's own functions."""
    code = _code(call.fn) or _code(type(call.fn).__call__)
    return SourceFile(code.co_filename, user=is_user(code.co_filename)).package if code is not None else ""


def _code(function: Any) -> CodeType | None:
    """The code of a Python function, method or partial, whatever it is wrapped in."""
    try:
        function = _inspect.unwrap(getattr(function, "func", function))
        code = getattr(getattr(function, "__func__", function), "__code__", None)
    except Exception:  # a loop of `__wrapped__`, or an attribute of the user's that fails
        return None
    return code if isinstance(code, CodeType) else None
