"""Words of `jax.experimental.mosaic.gpu.profiler.measure` in a call of `measure`: understood, or translated."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jaxstage_ext.profiling.timing.measured_call import RefusedMeasurement

MODES = {
    "cupti": "'cupti' is JAX's word for the times of kernels: the mode is 'kernels' here, by the profiler's trace",
    "events": (
        "'events', CUDA events around the call, is gone from JAX: the nearest mode is 'span', from the first kernel's "
        "start to the last kernel's end, which leaves out the gaps before and after; 'wall' holds them"
    ),
}
"""What JAX's modes are called here."""
_ITERATIONS, _FINALIZE = "iterations", "finalize"


class JaxWords(NamedTuple):
    """Keyword arguments for the function, and the number of runs."""

    kwargs: Mapping[str, Any]
    runs: int | None


def understood(f: Callable[..., Any], kwargs: Mapping[str, Any], runs: int | None) -> JaxWords:
    """`iterations` as runs, and no `finalize`, which is about CUPTI in the process, where `f` itself cannot take them.

    Raises RefusedMeasurement where runs and iterations are both given.
    """
    given = {name: kwargs[name] for name in (_ITERATIONS, _FINALIZE) if name in kwargs and not _takes(f, name)}
    left = {name: value for name, value in kwargs.items() if name not in given}
    if _ITERATIONS in given and runs is not None:
        raise RefusedMeasurement("iterations is JAX's word for runs; give runs alone")
    return JaxWords(left, given.get(_ITERATIONS, runs))


def _takes(f: Callable[..., Any], name: str) -> bool:
    """Whether a function has a keyword argument of that name, as far as its signature says; True where it does not."""
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return True
    return name in parameters or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
