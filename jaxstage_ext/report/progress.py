"""How work that takes long reports on itself."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, str | None], None]
"""Called about twice a second with the seconds that the work has taken and, where that is known, the step it has
reached. What it raises ends the work."""


def silent(seconds: float, step: str | None = None) -> None:
    """A `Progress` that reports nothing."""
