"""What a search cannot be asked for, in one sentence each, with what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LONGEST = 60
RUNS_TASKS_OTHERWISE = (
    "the executor does not give the result of one run of a task; of ipyparallel give client.executor() or "
    "client.load_balanced_view().executor"
)


def executor(given: Any) -> str:
    """What takes no tasks."""
    return f"executor={given!r:.{_LONGEST}} has no submit; give a concurrent.futures executor, or None"


def not_by_name(what: str, given: Any, example: str) -> str:
    """What is no mapping."""
    return f"{what}={given!r:.{_LONGEST}} is not a dict by name; write {what}={example}"


def count(what: str, given: Any, least: int) -> str:
    """What is no number, or too small."""
    return f"{what} is {given!r:.{_LONGEST}}; it must be a whole number, {least} or more"


def not_among(what: str, given: Any, possible: Sequence[str]) -> str:
    """What is none of the choices."""
    *others, last = map(repr, possible)
    return f"{what}={given!r:.{_LONGEST}} is not one of {', '.join(others)} and {last}"


def no_such_dimension(name: str, names: Sequence[str]) -> str:
    """A dimension that the program has not."""
    return f"most_split is for {name!r}, but no dimension has that name; there are {', '.join(names) or 'none'}"


def no_such_layout(number: Any, count: int) -> str:
    """A number that no layout has."""
    return f"there is no layout {number!r:.{_LONGEST}}; they are numbered from 0 to {count - 1}"
