"""An exception caught in a stage, seen from the user's code."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import TracebackType

from jaxstage_ext.ir.sources.source import cell_of, is_outside, is_user, with_cell_labels
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import SourceSpan
from jaxstage_ext.report.text.bounded_repr import bounded_str, type_name
from jaxstage_ext.report.text.public_paths import public_text
from jaxstage_ext.worker.request_errors import WorkerDied

_LONGEST, _ASKED, _LONGEST_TRACEBACK = 8000, 10_000_000, 100_000
_AT_ADDRESS = re.compile(r"<(?=[a-zA-Z_])((?:[^<>\n]|<lambda>|<locals>){1,200}?) at 0x[0-9a-f]{1,16}>")
"""How Python writes an object that has no text of its own; its name says as much."""
_AT_SOURCE = re.compile(r" ?This error occurs at source: {1,4}([^\n]{1,300}?):\d{1,9}:\d{1,9} \([^()\n]{1,200}\)")
"""Where JAX says an error occurs, which may be this package's call of JAX."""
_AT_LINE = re.compile(r" at ([^\n]{1,300}?):(\d{1,9}):(\d{1,9}) \(([^()\n]{1,200})\)")
"""How JAX writes where an operation stands (`source_info_util.summarize`); columns count from 0."""
_FRAME = '  File "'
"""How Python writes a frame."""
_INTERRUPTED_INSIDE = re.compile(
    r"(?:should be comparable using __eq__|^Exception raised in callback: ).*\nKeyboardInterrupt\b", re.DOTALL
)
"""How JAX words an interrupt that comes while C++ compares keys of a cache, or walks over a module, in Python."""


def explain(stage: str, error: BaseException) -> StageError:
    """The StageError of an exception caught in a stage."""
    interrupted = is_interrupt(error)
    message = f"interrupted while JAX was in {stage}" if isinstance(error, KeyboardInterrupt) else _bounded(error)
    span = _user_line(_traceback_of(error)) or _said_line(error)
    return StageError(stage, type_name(error), message, span, interrupted, error)


def _said_line(error: BaseException) -> SourceSpan | None:
    """The user's line that JAX names in its message, where the frames of the error have none."""
    for found in _AT_LINE.finditer(bounded_str(error, _LONGEST)):
        file, line, column, function = found[1], int(found[2]), int(found[3]), found[4]
        if is_user(file) and not is_outside(file):
            return SourceSpan(file, cell_of(file), function, line, column + 1, line, 0)
    return None


def is_interrupt(error: BaseException) -> bool:
    """Whether the user ended the stage: by an interrupt, or by stopping the worker that compiled."""
    return isinstance(error, KeyboardInterrupt) or (isinstance(error, WorkerDied) and error.cause == "stopped")


def as_interrupt(error: BaseException) -> BaseException:
    """The KeyboardInterrupt of which JAX has made this error, with its traceback; any other error as it is."""
    if not isinstance(error, ValueError | RuntimeError):
        return error
    if not isinstance(error.__cause__, KeyboardInterrupt) and not _INTERRUPTED_INSIDE.search(
        bounded_str(error, _ASKED)
    ):
        return error
    return KeyboardInterrupt().with_traceback(_traceback_of(error))


_traceback_of: Callable[[BaseException], TracebackType | None]
_traceback_of = BaseException.__dict__["__traceback__"].__get__


def _bounded(error: BaseException) -> str:
    """The message with cells and paths as others may see them, cut where it is long before anything is searched."""
    message = _without_our_lines(bounded_str(error, _ASKED))
    left_out = len(message) - _LONGEST
    shown = without_addresses(public_text(with_cell_labels(message[:_LONGEST])))
    return f"{shown}… [{left_out:,} characters left out]" if left_out > 0 else shown


def without_addresses(text: str) -> str:
    """A text with the names of objects that have no text of their own, in place of their addresses."""
    return _AT_ADDRESS.sub(_named, text)


def _named(written: re.Match[str]) -> str:
    """`OrderedDebugEffect` of `<jax._src.debugging.OrderedDebugEffect object at 0x7f>`."""
    words = written[1].removesuffix(" object").split(" ")
    return words[-1].rpartition(".")[2] or written[0]


def _without_our_lines(message: str) -> str:
    """A message that holds a traceback, as some of JAX's do, without the lines of this package's frames."""
    message = _AT_SOURCE.sub(lambda found: "" if is_outside(found[1]) else found[0], message)
    if _FRAME not in message:
        return message
    lines = message[:_LONGEST_TRACEBACK].split("\n")
    ours = [line.startswith(_FRAME) and is_outside(line[len(_FRAME) :].partition('"')[0]) for line in lines]
    return (
        "\n".join(line for line, is_ours in zip(lines, ours, strict=True) if not is_ours) + message[_LONGEST_TRACEBACK:]
    )


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


def reworded(error: BaseException, told: str) -> BaseException:
    """The same error, its message without addresses and lines of this package, and with a note that explains it."""
    if len(error.args) == 1 and isinstance(said := error.args[0], str) and len(said) <= _LONGEST:
        clean = _AT_ADDRESS.sub(_named, _without_our_lines(said))
        if clean != said:
            error.args = (clean,)
    if told and told not in getattr(error, "__notes__", ()):
        error.add_note(told)
    return error


def without_our_frames(error: BaseException) -> BaseException:
    """The same error, its traceback beginning after the frames of this package."""
    traceback = _traceback_of(error)
    while traceback is not None and is_outside(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    return BaseException.with_traceback(error, traceback)
