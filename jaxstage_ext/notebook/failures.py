"""Tracebacks of exceptions that leave a magic: as in an ordinary cell, and shown once."""

from __future__ import annotations

import contextlib
import traceback
from types import TracebackType
from typing import Any

from jaxstage_ext.report.public_paths import public_text


def as_in_a_plain_cell(ip: Any, error: BaseException, tb: TracebackType | None) -> BaseException:
    """What to raise so that IPython shows `error` with the frames of `tb` alone.

    Raise it outside any `except` block, so that it gets no context.
    """
    if isinstance(error, SystemExit) or hasattr(error, "_render_traceback_"):
        return error
    if isinstance(error, SyntaxError) or _holds_group(error):
        return _stand_in(error, lambda: _plain_text(ip, error, tb))
    return _rendered(error, lambda: list(ip.InteractiveTB.structured_traceback(type(error), error, tb, tb_offset=0)))


def in_one_line(error: BaseException, where: str) -> BaseException:
    """The same exception, shown as one line, since the panel shows the rest."""
    message = public_text((str(error).strip().splitlines() or [""])[0])
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    if isinstance(error, SyntaxError) or _holds_group(error):
        return _stand_in(error, lambda: [f"{text} ({where})"])
    return _rendered(error, lambda: [f"{text} ({where})"])


def _rendered(error: BaseException, lines: Any) -> BaseException:
    """Give the exception IPython's rendering hook for one traceback; raised again, it is an ordinary exception."""

    def once() -> list[str]:
        with contextlib.suppress(AttributeError):
            del error._render_traceback_  # type: ignore[attr-defined]
        return list(lines())

    with contextlib.suppress(AttributeError, TypeError):
        error._render_traceback_ = once  # type: ignore[attr-defined]
    return error


def _stand_in(error: BaseException, lines: Any) -> BaseException:
    """An exception of the same name, for syntax errors and groups, for which IPython does not call the hook."""
    double = type(type(error).__name__, (Exception,), {"__module__": type(error).__module__})(str(error))
    double.original = error
    return _rendered(double, lines)


def _plain_text(ip: Any, error: BaseException, tb: TracebackType | None) -> list[str]:
    if isinstance(error, SyntaxError):
        return list(ip.SyntaxTB.structured_traceback(type(error), error, traceback.extract_tb(tb)))
    return "".join(traceback.format_exception(type(error), error, tb)).splitlines()


def _holds_group(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, BaseExceptionGroup):
            return True
        error = error.__context__
    return False
