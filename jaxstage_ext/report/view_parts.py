"""Views are made part by part: one that fails says so in one line, and the others are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from jaxstage_ext.report.text.bounded_repr import bounded_str, type_name
from jaxstage_ext.report.text.shortened import shortened
from jaxstage_ext.report.unavailable import Unavailable

Value = TypeVar("Value")


def in_one_line(error: BaseException, most: int = 300) -> str:
    """`ValueError: the first line of its message`, whatever the error is. Raises nothing but KeyboardInterrupt."""
    lines = bounded_str(error).strip().splitlines()
    text = f"{type_name(error)}: {lines[0]}" if lines else type_name(error)
    return shortened(text, most)


class Parts:
    """The parts of one view.

    Attributes:
      failures: a line for each part that failed.
    """

    def __init__(self) -> None:
        self.failures: list[str] = []

    def get(self, title: str, compute: Callable[[], Value], otherwise: Value) -> Value:
        """What `compute` gives, or `otherwise` where it raises an error, or a value's own code exits."""
        try:
            return compute()
        except Unavailable as error:
            self.failures.append(f"{title} unavailable: {error.reason}")
            return otherwise
        except (Exception, SystemExit) as error:
            self.failures.append(f"{title} cannot be shown: {in_one_line(error)}")
            return otherwise
