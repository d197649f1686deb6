"""What keeps an engine from staging a call, as plain data."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.ir.sources.source import cell_of, is_outside, is_user
from jaxstage_ext.processes.program_reading import place_label
from jaxstage_ext.processes.staged.process_staging import StagingError, StagingErrorKind
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.bounded_repr import bounded_str, type_name
from jaxstage_ext.report.text.public_paths import public_text

_LONGEST = 500


def error_of_cell(error: BaseException, space: Mapping[str, Any]) -> StagingError:
    """Of what the cell, or finding its calls, raised; `space` has the names of the user."""
    error = getattr(error, "original", error)  # what IPython shows may stand in for it
    if isinstance(error, UsageError):
        return StagingError(StagingErrorKind.REFUSED, "", _line(error))
    if isinstance(error, SyntaxError):
        return _raised(error, _first(str(error.msg)), _place_of_syntax(error), "", space)
    return _raised(error, _line(error), _place(error.__traceback__), "", space)


def error_of_stage(error: StageError, space: Mapping[str, Any]) -> StagingError:
    """Of what a stage raised."""
    place = f"{error.span.label}:{error.span.line}" if error.span is not None else ""
    return _raised(error.exception, _first(error.message), place, error.stage, space, error.type)


def _raised(
    error: BaseException | None, message: str, place: str, stage: str, space: Mapping[str, Any], kind: str = ""
) -> StagingError:
    name = _undefined(error, space)
    what = StagingErrorKind.NAME if name else StagingErrorKind.RAISED
    return StagingError(what, kind or type_name(error), message, place, name, stage)


def _undefined(error: BaseException | None, space: Mapping[str, Any]) -> str:
    """The name that is not defined here; "" where that is not the error, as of a local variable."""
    if not isinstance(error, NameError) or isinstance(error, UnboundLocalError):
        return ""
    name = getattr(error, "name", None)
    return name if isinstance(name, str) and name not in space and not hasattr(builtins, name) else ""


def _line(error: BaseException) -> str:
    return _first(public_text(bounded_str(error, 4 * _LONGEST)))


def _first(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:_LONGEST]


def _place_of_syntax(error: SyntaxError) -> str:
    file, line = error.filename, error.lineno
    return f"{cell_of(file) or place_label(file)}:{line}" if file and line else ""


def _place(trace: TracebackType | None) -> str:
    """The innermost line of the user's."""
    place = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if is_user(file) and not is_outside(file):
            place = f"{place_label(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
