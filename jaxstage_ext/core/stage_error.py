"""An exception caught in a stage, seen from the user's code."""

from __future__ import annotations

from types import TracebackType

from jaxstage_ext.ir.source import cell_of, is_outside, is_user, with_cell_labels
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import SourceSpan
from jaxstage_ext.report.public_paths import public_text

_LONGEST = 8000


def explain(stage: str, error: BaseException) -> StageError:
    """The StageError of an exception caught in a stage."""
    interrupted = isinstance(error, KeyboardInterrupt)
    message = f"interrupted while JAX was in {stage}" if interrupted else _bounded(str(error))
    return StageError(stage, type(error).__name__, message, _user_line(error.__traceback__), interrupted, error)


def _bounded(message: str) -> str:
    """The message with cells and paths as others may see them, cut where it is long before anything is searched."""
    left_out = len(message) - _LONGEST
    shown = public_text(with_cell_labels(message[:_LONGEST]))
    return f"{shown}… [{left_out:,} characters left out]" if left_out > 0 else shown


def _user_line(traceback: TracebackType | None) -> SourceSpan | None:
    innermost = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_user(code.co_filename) and not is_outside(code.co_filename):
            positions = list(code.co_positions())[traceback.tb_lasti // 2]
            line, end_line, column, end_column = positions
            innermost = SourceSpan(
                code.co_filename,
                cell_of(code.co_filename),
                code.co_qualname,
                line or traceback.tb_lineno,
                (column or 0) + 1,
                end_line or traceback.tb_lineno,
                (end_column or 0) + 1,
            )
        traceback = traceback.tb_next
    return innermost


def without_our_frames(error: BaseException) -> BaseException:
    """The same error, its traceback beginning after the frames of this package."""
    traceback = error.__traceback__
    while traceback is not None and is_outside(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    return error.with_traceback(traceback)
