"""The comm target that the JupyterLab extension opens. Nothing of its side is imported before a page opens it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxstage_ext.panel.front_end import FrontEnd
    from jaxstage_ext.program.program import Program

TARGET = "jaxstage"


class FrontEndTarget:
    """The target in one shell; outside a kernel it does nothing."""

    def __init__(self, ip: Any, last_lines: Callable[[], Mapping[str, Mapping[str, str]]]) -> None:
        self._ip, self._last_lines = ip, last_lines
        self._comms: Any = getattr(getattr(ip, "kernel", None), "comm_manager", None)
        self._front_end: FrontEnd | None = None
        self._held: list[tuple[str, int]] = []

    def register(self) -> None:
        """Let pages open comms."""
        if self._comms is not None:
            self._comms.register_target(TARGET, self._opened)

    def unregister(self) -> None:
        """Close the pages' comms, and let no more be opened."""
        if self._comms is not None and self._comms.targets.get(TARGET) == self._opened:
            self._comms.unregister_target(TARGET, self._opened)
        if self._front_end is not None:
            self._front_end.close()
            self._front_end = None

    def after_cell(self, result: Any) -> None:
        """Tell the pages where a cell has bound an Inspection, or deleted one; panels tell them by themselves."""
        if self._front_end is None:
            return
        held = [(name, id(program)) for name, program in held_inspections(self._ip.user_ns)]
        if held != self._held:
            from jaxstage_ext.panel import change_notices

            self._held = held
            change_notices.changed()

    def _opened(self, comm: Any, message: Any) -> None:
        if self._front_end is None:
            from jaxstage_ext.panel.connection import NotebookState
            from jaxstage_ext.panel.front_end import FrontEnd

            self._front_end = FrontEnd(NotebookState(lambda: held_inspections(self._ip.user_ns), self._last_lines))
        self._front_end.connect(comm, message)


_MOST_ITEMS = 1000
"""Items of a list, tuple or dict that are looked at."""


def held_inspections(space: dict[str, Any]) -> list[tuple[str, Program]]:
    """Names of the user's namespace, `Out[3]` among them, with the Program of the Inspection that each holds."""
    module = sys.modules.get("jaxstage_ext.api.inspection")
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
