"""Options of the magics on Tab."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from IPython.core.error import TryNext


def completer(options: Sequence[str]) -> Callable[[Any, Any], list[str]]:
    """A `complete_command` hook: the options that a magic takes, where one is being typed."""

    def complete(shell: Any, event: Any) -> list[str]:
        if not event.symbol.startswith("-"):
            raise TryNext
        used = set(event.line.split()[1:]) - {event.symbol}
        return [option for option in options if option.startswith(event.symbol) and option not in used]

    return complete
