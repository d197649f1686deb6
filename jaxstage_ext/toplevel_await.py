"""Top-level `await` in a cell that begins with one of the magics."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Callable, Coroutine
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.command import python_of

_FIRST_LINE = re.compile(r"%%(trace|lower|compile)(?: (.*))?")


def await_cells(ip: Any) -> Callable[[list[str]], list[str]]:
    """An input transformer: a magic's cell that awaits is itself awaited, in the loop that runs all cells."""

    def transform(lines: list[str]) -> list[str]:
        match = _FIRST_LINE.fullmatch(lines[0].rstrip()) if lines else None
        if match is None:
            return lines
        kind, line, cell = match[1], match[2] or "", "".join(lines[1:])
        if not cell.strip() or not awaits(ip, python_of(line), cell):
            return lines
        return [f"await get_ipython().magics_manager.registry['StageMagics'].run_async({kind!r}, {line!r}, {cell!r})\n"]

    return transform


def awaits(ip: Any, line: str, cell: str) -> bool:
    """Whether a cell awaits at top level, so that it needs an event loop."""
    if "await" not in line + cell and "async" not in cell:
        return False
    return any(_is_coroutine(source) for source in (line.strip(), ip.transform_cell(cell)))


def _is_coroutine(source: str) -> bool:
    try:
        code = compile(source, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return bool(code.co_flags & inspect.CO_COROUTINE)


def drive(ip: Any, work: Coroutine[Any, Any, Any], needs_loop: bool) -> Any:
    """Run a coroutine to its end from ordinary code."""
    if needs_loop:
        if _loop_runs():
            work.close()
            raise UsageError(
                "`await` needs the magic on the cell's first line: it cannot run inside another magic here"
            )
        return ip.loop_runner(work)
    try:
        work.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("the cell awaits something, yet no statement of it says so")


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
