"""The signature of a callable and what it wraps, whatever its own code does when it is asked for."""

from __future__ import annotations

import functools
import inspect
from types import FunctionType, MethodType
from typing import Any

from jaxstage_ext.report.bounded_time import in_bounded_time
from jaxstage_ext.report.text.bounded_repr import LONGEST

_PLAIN = (FunctionType, MethodType, functools.partial)
_MOST_WRAPPERS = 1000


def unwrapped(fn: Any) -> Any:
    """What `__wrapped__` leads to; None for a function that wraps itself, which `inspect.unwrap` quotes in an error."""
    seen: set[int] = set()
    try:
        while (inner := getattr(fn, "__wrapped__", None)) is not None:
            if id(fn) in seen or len(seen) > _MOST_WRAPPERS:
                return None
            seen.add(id(fn))
            fn = inner
    except Exception:
        return None
    return fn


def signature_of(fn: Any, eval_str: bool = False) -> inspect.Signature:
    """`inspect.signature`, in bounded time: its errors quote the callable. Raises ValueError for any but a NameError.

    A NameError is that of an annotation, with `eval_str`.
    """
    if not callable(fn):
        raise ValueError("it is not callable")
    try:
        if type(fn) in _PLAIN and not eval_str:
            return inspect.signature(fn)
        return in_bounded_time(functools.partial(inspect.signature, fn, eval_str=eval_str), LONGEST)
    except NameError:
        raise
    except (Exception, SystemExit) as error:
        raise ValueError("Python gives no signature") from error
