"""What every answer to the front end is made of: its parameters checked, its errors in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

Params = Mapping[str, Any]
Answer = tuple[dict[str, Any], list[bytes]]
Programs: TypeAlias = "Sequence[Program]"
Method: TypeAlias = Callable[[Programs, Params], Answer]


class BadRequest(ValueError):
    """A request that cannot be answered; its text is one line."""


def one_line(error: BaseException) -> str:
    """An error as the panel shows it; a worker's log is shown on demand."""
    said = str(error).partition(". The last lines of its log:")[0] if getattr(error, "log", "") else str(error)
    text = " ".join(said.split()) or "no message"
    return (text if isinstance(error, BadRequest | Unavailable) else f"{type(error).__name__}: {text}")[:500]


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


def program(programs: Programs, params: Params) -> Program:
    """The Program that `call` numbers. Raises BadRequest where there is none."""
    if not programs:
        raise BadRequest("this panel is closed; run the cell again")
    return programs[integer(params, "call", 0, len(programs) - 1)]
