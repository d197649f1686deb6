"""Tracebacks of exceptions that leave a magic: as in an ordinary cell, and shown once."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from jaxstage_ext.report import view_parts
from jaxstage_ext.report.text.bounded_repr import bounded_str, type_name
from jaxstage_ext.report.text.public_paths import public_text

_LONGEST, _MOST_CONTEXTS = 1000, 100
_RENDERED_OTHERWISE = (SyntaxError, SystemExit, GeneratorExit, StopIteration, StopAsyncIteration)
"""Exceptions for which IPython does not call the hook, or which mean something to the code that runs a cell."""


def as_in_a_plain_cell(ip: Any, error: BaseException, tb: TracebackType | None) -> BaseException:
    """What to raise so that IPython shows `error` with the frames of `tb` alone.

    Raise it outside any `except` block, so that it gets no context.
    """
    if isinstance(error, SystemExit) or hasattr(error, "_render_traceback_"):
        return error
    if isinstance(error, SyntaxError | StopIteration | StopAsyncIteration) or _holds_group(error):
        return _stand_in(error, lambda: _plain_text(ip, error, tb))
    return pointing_at(ip, error, tb)


def pointing_at(ip: Any, error: BaseException, tb: TracebackType | None) -> BaseException:
    """The same exception, shown with the frames of `tb` alone, however it is shown otherwise."""
    return _rendered(error, lambda: list(ip.InteractiveTB.structured_traceback(type(error), error, tb, tb_offset=0)))


def in_one_line(error: BaseException, where: str, said: str = "") -> BaseException:
    """The same exception, shown as one line, since the panel shows the rest. `said` stands for its own message."""
    text = _cut(f"{type_name(error)}: {said}") if said else public_text(view_parts.in_one_line(error, _LONGEST))
    if isinstance(error, _RENDERED_OTHERWISE) or _holds_group(error):
        return _stand_in(error, lambda: [f"{text} ({where})"])
    return _rendered(error, lambda: [f"{text} ({where})"])


@contextlib.contextmanager
def interrupts_in_one_line(said: str) -> Iterator[None]:
    """An interrupt of the block leaves it as one line: its name, and what is said of it."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        stopped = in_one_line(interrupt, said)
    else:
        return
    raise stopped


def _cut(text: str) -> str:
    line = next(iter(text.strip().splitlines()), "")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _rendered(error: BaseException, lines: Any) -> BaseException:
    """Give the exception IPython's rendering hook for one traceback; raised again, it is an ordinary exception."""

    def once() -> list[str]:
        with contextlib.suppress(AttributeError):
            del error._render_traceback_  # type: ignore[attr-defined]
        return list(lines())

    try:
        error._render_traceback_ = once  # type: ignore[attr-defined]
    except Exception:  # of a class that takes no attributes
        return _stand_in(error, lines)
    return error


def _stand_in(error: BaseException, lines: Any) -> BaseException:
    """An exception of the same name, for those for which IPython does not call the hook, or that end a coroutine."""
    double: Any = type(type_name(error), (Exception,), {"__module__": str(type(error).__module__)})(bounded_str(error))
    double.original = error
    return _rendered(double, lines)


def _plain_text(ip: Any, error: BaseException, tb: TracebackType | None) -> list[str]:
    if isinstance(error, SyntaxError):
        return list(ip.SyntaxTB.structured_traceback(type(error), error, traceback.extract_tb(tb)))
    return "".join(traceback.format_exception(type(error), error, tb)).splitlines()


def _holds_group(error: BaseException | None) -> bool:
    for _ in range(_MOST_CONTEXTS):
        if error is None or isinstance(error, BaseExceptionGroup):
            break
        error = error.__context__
    return isinstance(error, BaseExceptionGroup)
