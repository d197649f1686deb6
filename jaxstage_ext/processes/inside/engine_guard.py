"""The pre-flight guard in an engine: on from one cell to the next, where a script has one block."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from jaxstage_ext.processes import guarding


class _Cells:
    timeout, folder = 300.0, Path()
    is_hooked = False


def switch(on: bool, timeout: float, folder: str) -> bool:
    """Compare programs from now on, or no more. Returns whether they were compared before.

    What JAX has compiled it compiles anew once they are compared, for only what it compiles is seen.

    Args:
      on: whether they are to be compared.
      timeout: seconds that a process waits for the others at a program.
      folder: where reports are written to.
    """
    was = guarding.is_on()
    _Cells.timeout, _Cells.folder = timeout, Path(folder)
    if on and not was:
        _compile_anew()
        guarding.begin(timeout, _Cells.folder)
    elif was and not on:
        guarding.end(None)
    _hook(on)
    return was


def forget_programs() -> bool:
    """Where programs are compared, have JAX compile them anew: what was only looked at has been compiled too.

    Returns whether they are compared.
    """
    if is_on := guarding.is_on():
        _compile_anew()
    return is_on


def _compile_anew() -> None:
    import jax

    clear: Any = jax.clear_caches
    clear()


def _hook(on: bool) -> None:
    shell = _shell()
    if shell is None or on is _Cells.is_hooked:
        return
    change = shell.events.register if on else shell.events.unregister
    change("pre_execute", _before)  # which comes before silent cells too
    change("post_run_cell", _after)
    _Cells.is_hooked = on


def _before() -> None:
    guarding.renew(_Cells.timeout, _Cells.folder)


def _after(result: Any) -> None:
    error = getattr(result, "error_in_exec", None) or getattr(result, "error_before_exec", None)
    if isinstance(error, BaseException):
        guarding.tell_error(error)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
