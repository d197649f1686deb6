"""A call of a function by its name, which an engine makes: the name, the arguments and the outcome are plain data."""

from __future__ import annotations

import importlib
import traceback
from dataclasses import dataclass
from typing import Any

VALUE, RAISED = "value", "raised"
_LONGEST_LINE, _LONGEST_MESSAGE, _MOST_LINES = 500, 8000, 60

Outcome = tuple[Any, ...]
"""(VALUE, the value), or (RAISED, the name of the exception's class, its text, the lines of its traceback)."""


@dataclass(frozen=True)
class EngineCall:
    """A function as "package.module:function", and its arguments."""

    function: str
    arguments: tuple[Any, ...] = ()

    def __call__(self) -> Outcome:
        """Import the function and call it. No exception leaves it but interrupts and exits."""
        module, _, name = self.function.partition(":")
        try:
            return VALUE, getattr(importlib.import_module(module), name)(*self.arguments)
        except Exception as error:
            return RAISED, type(error).__name__, _text(error), _lines(error)


def _text(error: Exception) -> str:
    try:
        return str(error)[:_LONGEST_MESSAGE]
    except Exception:
        return ""


def _lines(error: Exception) -> tuple[str, ...]:
    lines = "".join(traceback.format_exception(error)).splitlines()
    return tuple(line[:_LONGEST_LINE] for line in lines[-_MOST_LINES:])
