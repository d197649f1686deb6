"""A run that died of memory, as the inspection of its program tells it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import jax

from jaxstage_ext.core.stage_error import explain
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.units import scaled

MARK = "RESOURCE_EXHAUSTED"
RUN = "run"
"""The stage of the StageError of a run."""
_HINT = "`.memory` of this inspection shows what takes the memory."
_ELSEWHERE = "A statement of the cell raised it. This is the memory of {}, which need not be what asked for more."


def is_one(error: BaseException | None) -> bool:
    """Whether JAX raised it for want of memory."""
    return isinstance(error, jax.errors.JaxRuntimeError) and MARK in str(error)


def told(error: BaseException, name: str, elsewhere: bool = False) -> StageError | None:
    """The failed run of a function, with what the kernel's arrays held then; None for any other error.

    With `elsewhere` the cell raised it, and it is not known whether while this function ran.
    """
    if not is_one(error):
        return None
    found = explain(RUN, error)
    if not elsewhere:
        error.add_note(_HINT)
    lines = [found.message, _alive(), *([_ELSEWHERE.format(name)] if elsewhere else [])]
    return replace(found, message="\n".join(filter(None, lines)))


def _alive() -> str:
    with contextlib.suppress(Exception):  # an array may be deleted meanwhile
        sizes = [int(array.nbytes) for array in _arrays() if _is_there(array)]
        return f"JAX arrays alive in this kernel then: {len(sizes):,}, of {scaled(sum(sizes), 'B')} together."
    return ""


def _arrays() -> list[Any]:
    return list(jax.live_arrays())  # type: ignore[no-untyped-call]


def _is_there(array: Any) -> bool:
    """Not one of those that the run was to make: they raise its error."""
    try:
        return bool(array.is_ready()) and array.block_until_ready() is not None
    except (AttributeError, RuntimeError):
        return False
