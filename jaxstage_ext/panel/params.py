"""Requests of the front end: their parameters, checked, and their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from jaxstage_ext.report.text.bounded_repr import bounded_str, type_name
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

Params = Mapping[str, Any]
Answer = tuple[dict[str, Any], list[bytes]]
Programs: TypeAlias = "Sequence[Program]"
Method: TypeAlias = Callable[[Programs, Params], Answer]
MOST_TEXT = 500
"""Characters of an error that are sent."""
INTERRUPTED = "Interrupted."


class ErrorKind(StrEnum):
    """Why a request has no result.

    STOPPED: the user stopped it.    BUSY: too many others are running; ask again later.
    ABSENT: it does not exist for this call, however often one asks.    FAILED: anything else.
    """

    STOPPED = "stopped"
    BUSY = "busy"
    ABSENT = "absent"
    FAILED = "failed"


class BadRequest(ValueError):
    """A request that has no result; its text is one line.

    Attributes:
      has_log: whether a worker process failed, so that its log may explain the error.
    """

    def __init__(self, message: str, kind: ErrorKind = ErrorKind.FAILED, has_log: bool = False) -> None:
        super().__init__(message)
        self.kind, self.has_log = kind, has_log


def failure(error: BaseException) -> BadRequest:
    """Any error as the panel shows it: one line; of a worker that died, without its log."""
    if isinstance(error, BadRequest):
        return error
    death = _death_of_worker(error)
    text = " ".join((death or bounded_str(error, 4 * MOST_TEXT)).split()) or "no message"
    if isinstance(error, Unavailable):
        return BadRequest(text[:MOST_TEXT], ErrorKind.ABSENT)
    if isinstance(error, KeyboardInterrupt):
        return BadRequest(INTERRUPTED, ErrorKind.STOPPED)
    return BadRequest(f"{type_name(error)}: {text}"[:MOST_TEXT], has_log=death is not None)


def _death_of_worker(error: BaseException) -> str | None:
    """How a worker died, without its log; None for any other error."""
    try:
        summary, log = getattr(error, "summary", None), getattr(error, "log", None)
    except Exception:
        return None
    return summary if isinstance(summary, str) and isinstance(log, str) else None


def quoted(value: object) -> str:
    """A value of a request, short enough for an error."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def integer(params: Params, name: str, low: int, high: int) -> int:
    """The parameter of that name. Raises BadRequest unless it is an integer from `low` to `high`."""
    value = params.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadRequest(f"{name} must be an integer from {low} to {high}, not {quoted(value)}")
    return value


def text(params: Params, name: str) -> str:
    """The parameter of that name. Raises BadRequest unless it is text."""
    value = params.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be text, not {quoted(value)}")
    return value


def with_opened(programs: Programs) -> list[Program]:
    """The programs of a panel, and after them those that were opened from them."""
    opened = [made for one in programs for made in one.opened]
    return [*programs, *(made for made in opened if all(made is not one for one in programs))]


def only_in(programs: Programs, others: Iterable[Programs]) -> list[Program]:
    """The programs of a panel, those that were opened from them included, that no other panel shows."""
    shown = [one for other in others for one in with_opened(other)]
    return [one for one in with_opened(programs) if all(one is not other for other in shown)]


def program(programs: Programs, params: Params) -> Program:
    """The Program that `call` numbers. Raises BadRequest where there is none."""
    if not programs:
        raise BadRequest("this panel is closed; run the cell again")
    return programs[integer(params, "call", 0, len(programs) - 1)]
