"""What an engine answers: a value, or why there is none."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class FailureKind(enum.Enum):
    """Why an engine gave no value."""

    RAISED = "raised"
    """The function raised an exception, or importing it did."""
    DIED = "died"
    """The process has ended, before or while it was asked."""
    NOT_INSTALLED = "not installed"
    """The engine's Python has no jaxstage_ext."""
    LATE = "late"
    """It has not answered in time, and is not waited for; what it was asked it does when it comes to it."""


@dataclass(frozen=True)
class EngineFailure:
    """Why one engine gave no value.

    Attributes:
      error: the name of the exception's class; "" where none was raised.
      message: its text, or what is known of the end of the process, or of where it is that does not answer.
      lines: the traceback in the engine, the call first; () where there is none.
    """

    kind: FailureKind
    error: str = ""
    message: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class EngineAnswer:
    """The answer of one process: `value`, which is plain data, unless there is a `failure`."""

    process: int
    value: object = None
    failure: EngineFailure | None = None
