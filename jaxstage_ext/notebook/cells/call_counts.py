"""How often code of notebook cells calls each jitted function, counted by `sys.monitoring` (Python 3.12)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, MethodType
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.core.jax_private.tracing import is_tracing, jitted_type
from jaxstage_ext.ir.sources import source

_TOOLS = (4, 3, 5, 0, 2, 1)
"""The tool ids of `sys.monitoring` in the order in which they are tried; 0 is for debuggers, 1 for coverage."""
_MOST_FUNCTIONS = 10_000


@dataclass
class CallCounts:
    """The calls in a block.

    Attributes:
      functions: the jitted functions by id.   calls: how often each was called, outside of traces.
    """

    functions: dict[int, Any] = field(default_factory=dict)
    calls: dict[int, int] = field(default_factory=dict)

    def add(self, function: Any) -> None:
        """Count a call."""
        number = id(function)
        if number not in self.calls:
            if len(self.calls) >= _MOST_FUNCTIONS:
                return
            self.functions[number], self.calls[number] = function, 0
        self.calls[number] += 1


@contextmanager
def counted_calls() -> Iterator[CallCounts]:
    """Count the calls that code of notebook cells makes in a block, in every thread. Raises UsageError.

    Other code runs as it does without; each call by a cell's own code takes some 100 ns more.
    """
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
    events, jitted, counts = monitoring.events, jitted_type(), CallCounts()
    codes: list[CodeType] = []

    def start(code: CodeType, offset: int) -> Any:
        if code.co_filename in source.cell_numbers():
            codes.append(code)
            monitoring.set_local_events(tool, code, events.CALL)
        return monitoring.DISABLE

    def call(code: CodeType, offset: int, function: Any, first: Any) -> None:
        function = function.__func__ if type(function) is MethodType else function
        if type(function) is jitted and not is_tracing():
            counts.add(function)

    tool = _take_tool(monitoring)
    try:
        monitoring.register_callback(tool, events.PY_START, start)
        monitoring.register_callback(tool, events.CALL, call)
        monitoring.set_events(tool, events.PY_START)
        monitoring.restart_events()
        yield counts
    finally:
        monitoring.set_events(tool, 0)
        for code in codes:
            monitoring.set_local_events(tool, code, 0)
        monitoring.register_callback(tool, events.PY_START, None)
        monitoring.register_callback(tool, events.CALL, None)
        monitoring.free_tool_id(tool)


def _take_tool(monitoring: Any) -> int:
    for tool in _TOOLS:
        try:
            monitoring.use_tool_id(tool, "JAXStage")
        except ValueError:  # another tool has it
            continue
        return tool
    raise UsageError("--count: debuggers, coverage or profilers use every tool id of sys.monitoring; end one of them")
