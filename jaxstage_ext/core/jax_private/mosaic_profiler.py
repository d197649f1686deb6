"""CUPTI through JAX's own Mosaic GPU profiler: the time of each kernel that ran.

It is what `jax.experimental.mosaic.gpu.profiler.measure` calls, without its warm-up and its splitting of runs, which
fails where two runs launch different numbers of kernels, and without absl-py, which that module imports in JAX 0.10.
"""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import jax

from jaxstage_ext.report.deliberate_error import DeliberateError

Outputs = TypeVar("Outputs")
KernelTime = tuple[str, float]
"""A kernel's name, and how long it ran in milliseconds, without the gaps around it."""


class CuptiProblem(enum.Enum):
    """Why CUPTI cannot time kernels."""

    NO_DEVICE = enum.auto()
    """JAX has no CUDA device here."""
    NO_LIBRARY = enum.auto()
    """The CUDA plugin is not installed, or has no Mosaic GPU bindings."""
    SUBSCRIBED = enum.auto()
    """Another profiler is subscribed, in this process or outside; before CUPTI 13.3 there can be only one."""
    FAILED = enum.auto()
    """CUPTI failed otherwise; its own text says how."""


class CuptiError(DeliberateError, RuntimeError):
    """CUPTI cannot time kernels here: `problem`, and JAX's or CUPTI's own text."""

    def __init__(self, problem: CuptiProblem, text: str) -> None:
        super().__init__(" ".join(text.split()))
        self.problem = problem


_SUBSCRIBED = (
    "another subscriber",
    "Nested or concurrent",
    "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
)
"""In what the bindings raise: of JAX 0.10 and 0.12, of 0.12 alone, and CUPTI's own name of the error (39)."""
_one_at_a_time = threading.Lock()
_ready: Callable[[Any], Any] = jax.block_until_ready


def cupti_problem() -> CuptiError | None:
    """What keeps CUPTI from timing kernels here, as far as it is known before a run; None where nothing does.

    It initialises JAX's backends, but not CUPTI: whether another profiler is subscribed shows when a run begins.
    """
    try:
        jax.devices("cuda")
        _bindings()
    except RuntimeError as error:
        return error if isinstance(error, CuptiError) else CuptiError(CuptiProblem.NO_DEVICE, str(error))
    return None


def cupti_shares() -> bool | None:
    """Whether CUPTI can time kernels while another profiler is subscribed, as from 13.3; None where it is unknown.

    JAX 0.12 and CUPTI 13.3 are needed, so it is False for JAX 0.10, and None without the bindings.
    """
    try:
        bindings = _bindings()
        available = getattr(bindings, "_cupti_v2_available", None)
        return available is not None and bool(available())
    except RuntimeError:
        return None


def kernel_times(run: Callable[[], Outputs], detach: bool = True) -> tuple[Outputs, list[KernelTime]]:
    """Calls `run` once while CUPTI records kernels, blocks until its outputs are ready, and gives the kernels' times.

    The kernels are all those of this process, in the order in which CUPTI gives them; none where nothing ran on a GPU.
    Warm up before: the first run loads the kernels.

    Args:
      run: what to time.
      detach: whether CUPTI's global state leaves the process afterwards, as JAX does; from CUPTI 13.3 on it has no
        effect.

    Raises:
      CuptiError: CUPTI cannot record; `run` was not called, unless CUPTI failed afterwards.
    """
    if not _one_at_a_time.acquire(blocking=False):
        raise CuptiError(CuptiProblem.SUBSCRIBED, "this process already times kernels")
    try:
        return _recorded(_bindings(), run, detach)
    finally:
        _one_at_a_time.release()


def _recorded(bindings: Any, run: Callable[[], Outputs], detach: bool) -> tuple[Outputs, list[KernelTime]]:
    _checked(bindings._cupti_init)
    try:
        outputs = _ready(run())
    except BaseException:
        with contextlib.suppress(CuptiError):
            _checked(bindings._cupti_get_timings, detach)
        raise
    times = _checked(bindings._cupti_get_timings, detach)
    return outputs, [(str(name), float(milliseconds)) for name, milliseconds in times or ()]


def _checked(call: Callable[..., Any], *args: Any) -> Any:
    try:
        return call(*args)
    except RuntimeError as error:
        raise CuptiError(_problem_in(str(error)), str(error)) from error


def _problem_in(text: str) -> CuptiProblem:
    return CuptiProblem.SUBSCRIBED if any(part in text for part in _SUBSCRIBED) else CuptiProblem.FAILED


def _bindings() -> Any:
    """The extension module of JAX's CUDA plugin that has `_cupti_init` and `_cupti_get_timings`."""
    try:
        from jax._src.lib import mosaic_gpu

        bindings: Any = vars(mosaic_gpu)["_mosaic_gpu_ext"]
        assert bindings._cupti_init and bindings._cupti_get_timings
    except (ImportError, AttributeError, KeyError) as error:
        raise CuptiError(CuptiProblem.NO_LIBRARY, str(error)) from error
    return bindings
