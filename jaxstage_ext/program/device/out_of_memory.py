"""Runs that fail because the device is out of memory."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import jax

from jaxstage_ext.core.stage.stage_error import explain
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.units import scaled

MARK = "RESOURCE_EXHAUSTED"
RUN = "run"
"""The stage of the StageError of a run."""
LISTED = "The inspection's .memory (error.inspection.memory) lists the buffers by line, from one more compile."
_HINT = "This inspection's .memory shows what uses the memory."
_ELSEWHERE = "A statement of the cell raised this error. The memory shown is that of {}, which may not be its cause."


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether JAX raised the error because memory ran out."""
    return isinstance(error, jax.errors.JaxRuntimeError) and MARK in str(error)


def failed_run(error: BaseException, name: str, elsewhere: bool = False) -> StageError | None:
    """The failed run of a function and the size of the live JAX arrays; None for any other error.

    With `elsewhere`, the cell raised the error, perhaps outside this function.
    """
    if not is_out_of_memory(error):
        return None
    explained = explain(RUN, error)
    if not elsewhere:
        error.add_note(_HINT)
    lines = [explained.message, _alive(), *([_ELSEWHERE.format(name)] if elsewhere else [])]
    return replace(explained, message="\n".join(filter(None, lines)))


def _alive() -> str:
    with contextlib.suppress(Exception):  # an array may be deleted meanwhile
        sizes = [int(array.nbytes) for array in _arrays() if _is_computed(array)]
        return f"Live JAX arrays in this kernel at that time: {len(sizes):,}, {scaled(sum(sizes), 'B')} in total."
    return ""


def _arrays() -> list[Any]:
    return list(jax.live_arrays())  # type: ignore[no-untyped-call]


def _is_computed(array: Any) -> bool:
    """Whether an array holds a value; the results of the failed run raise its error."""
    try:
        return bool(array.is_ready()) and array.block_until_ready() is not None
    except (AttributeError, RuntimeError):
        return False
