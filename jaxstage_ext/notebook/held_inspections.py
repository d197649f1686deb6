"""Which of the user's variables hold an Inspection."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

_MOST_ITEMS = 1000
"""Items of a list, tuple or dict that are looked at."""


def held_inspections(space: dict[str, Any]) -> list[tuple[str, Program]]:
    """Names of the user's namespace, `Out[3]` among them, with the Program of the Inspection that each holds."""
    module = sys.modules.get("jaxstage_ext.inspection")
    if module is None:
        return []
    kind, outputs = module.Inspection, space.get("_oh") or {}
    named = [(name, value) for name, value in list(space.items()) if isinstance(name, str) and name[:1] != "_"]
    named += [(f"Out[{number}]", value) for number, value in list(outputs.items())]
    return [
        (name, each.program)
        for name, value in named
        if value is not outputs
        for each in _items(value)
        if type(each) is kind
    ]


def _items(value: Any) -> Iterator[Any]:
    """The value, and what a plain container of it holds; nothing of the user's code runs."""
    yield value
    if type(value) in (list, tuple):
        yield from value[:_MOST_ITEMS]
    elif type(value) is dict:
        yield from list(value.values())[:_MOST_ITEMS]
