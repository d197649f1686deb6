"""Top-level `await` in a cell that begins with one of the magics."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import re
import signal
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any

from IPython.core.error import UsageError


def await_cells(
    ip: Any, names: Iterable[str], python_of: Callable[[str, str], str]
) -> Callable[[list[str]], list[str]]:
    """An input transformer: a magic's cell that awaits is itself awaited, in the loop that runs all cells.

    `names` are the magics'; `python_of(name, line)` is a magic's line without its options.
    """
    first_line = re.compile(rf"%%({'|'.join(map(re.escape, names))})(?: (.*))?")

    def transform(lines: list[str]) -> list[str]:
        match = first_line.fullmatch(lines[0].rstrip()) if lines else None
        if match is None:
            return lines
        kind, line, cell = match[1], match[2] or "", "".join(lines[1:])
        if not cell.strip() or not awaits(ip, python_of(kind, line), cell):
            return lines
        return [f"await get_ipython().magics_manager.registry['StageMagics'].run_async({kind!r}, {line!r}, {cell!r})\n"]

    return transform


def awaits(ip: Any, line: str, cell: str) -> bool:
    """Whether a cell awaits at top level, and so needs an event loop."""
    if "await" not in line + cell and "async" not in cell:
        return False
    try:
        sources = (line.strip(), ip.transform_cell(cell))
    except SyntaxError:
        return False
    return any(_is_coroutine(source) for source in sources)


def _is_coroutine(source: str) -> bool:
    try:
        code = compile(source, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return bool(code.co_flags & inspect.CO_COROUTINE)


def drive(ip: Any, work: Coroutine[Any, Any, Any], needs_loop: bool) -> Any:
    """Run a coroutine to completion from ordinary code."""
    if needs_loop:
        if loop_runs():
            work.close()
            raise UsageError(
                "a cell with await needs the magic on its first line; it cannot run inside another magic here"
            )
        return ip.loop_runner(work)
    try:
        work.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("the cell awaits something, but none of its statements contains await")


def loop_runs() -> bool:
    """Whether an event loop runs the calling code, as in every cell of a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupt stop ordinary code in a cell that awaits, where IPython's kernel cancels only awaited code."""
    handler = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not (main and loop_runs()) or handler in (signal.default_int_handler, signal.SIG_IGN, None):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
