"""The pre-flight of a whole script: JAXSTAGE_PREFLIGHT=1 in its environment, or `python -m jaxstage_ext.processes`."""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType
from typing import Any

from jaxstage_ext.core import first_import

ON, TIMEOUT = "JAXSTAGE_PREFLIGHT", "JAXSTAGE_PREFLIGHT_TIMEOUT"
DEFAULT_TIMEOUT = 300.0
_MONITORING = "jax.monitoring"
_has_begun = False
_former_hook: Any = None


def begin_script() -> None:
    """Compare the programs of this process from the moment when it imports JAX until it ends. Twice is once."""
    global _has_begun
    if _has_begun:
        return
    _has_begun = True
    if _MONITORING in sys.modules:
        _begin()
    else:
        first_import.after_import(_MONITORING, _begin)


def timeout_of(text: str) -> float:
    """Seconds of JAXSTAGE_PREFLIGHT_TIMEOUT; the default where it is empty or not a positive number."""
    try:
        seconds = float(text)
    except ValueError:
        return DEFAULT_TIMEOUT
    return seconds if seconds > 0 else DEFAULT_TIMEOUT


def _begin() -> None:
    global _former_hook
    from jaxstage_ext.processes import guarding
    from jaxstage_ext.processes.guard import default_folder

    if guarding.is_on():
        return
    guarding.begin(timeout_of(os.environ.get(TIMEOUT, "")), default_folder())
    _former_hook, sys.excepthook = sys.excepthook, _on_error
    atexit.register(_on_exit)


def _on_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """An exception ends the script: print it as ever, then tell the other processes."""
    from jaxstage_ext.processes import guarding

    _former_hook(kind, error, trace)
    guarding.end(error)


def _on_exit() -> None:
    from jaxstage_ext.processes import guarding

    guarding.end(None)
