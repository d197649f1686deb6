"""A program whose own objects another process holds, which answers what the panel's tabs ask of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class ProgramElsewhere(Protocol):
    """Where the objects of a program are."""

    @property
    def why_not_here(self) -> str:
        """Why this process cannot say what only its objects tell."""

    def answer(self, method: str, params: Mapping[str, Any], is_slow: bool) -> tuple[dict[str, Any], list[bytes]]:
        """The result and the buffers of a panel's request.

        Args:
          method: the request's name.
          params: without the number of the program in its panel.
          is_slow: whether it may take long; another one is refused where the process is busy.

        Raises:
          ValueError: of one line, where there is no answer; Unavailable where there never will be.
        """
