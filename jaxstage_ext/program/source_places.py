"""Where a reader of the user's source starts."""

from __future__ import annotations

import inspect as _inspect

from jaxstage_ext.core.call import Call
from jaxstage_ext.ir.source import is_user
from jaxstage_ext.report.errors import StageError


def first_places(call: Call, error: StageError | None) -> list[tuple[str, int]]:
    """(file, line) where a reader of the source starts: the line of the error, then the function itself."""
    places = []
    if error is not None and (span := error.span) is not None:
        places.append((span.file, span.line))
    fn = _inspect.unwrap(getattr(call.fn, "func", call.fn))
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    if code is not None and is_user(code.co_filename):
        places.append((code.co_filename, code.co_firstlineno))
    return places
