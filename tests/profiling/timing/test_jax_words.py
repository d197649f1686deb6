"""Words of JAX's own `measure`, and CUPTI that records nothing or not at all: JAX gives None, and raises.

The bindings answer as JAX's do (`jax_cuda13_plugin._mosaic_gpu_ext`), on a device that says it is a GPU.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError
from magic_shell import fresh_shell

import jaxstage_ext
from jaxstage_ext.core.jax_private import mosaic_profiler
from jaxstage_ext.core.jax_private.mosaic_profiler import CuptiError, CuptiProblem
from jaxstage_ext.profiling.timing import measure as measuring
from jaxstage_ext.report.unavailable import Unavailable

X = np.ones(8, np.float32)
SUBSCRIBED = "Mosaic GPU profiler error: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: failed to subscribe to CUPTI"


def double(x: Any) -> Any:
    return x * 2


@pytest.fixture
def bindings(monkeypatch: pytest.MonkeyPatch) -> Any:
    """CUPTI that gives `times`, or fails with `error`; `detached` has what was asked of it after each run."""
    made = SimpleNamespace(times=[("fusion", 0.25)], error="", detached=[])

    def begin() -> None:
        if made.error:
            raise RuntimeError(made.error)

    def timings(finalize: bool) -> Any:
        made.detached.append(finalize)
        return made.times

    made._cupti_init, made._cupti_get_timings = begin, timings
    monkeypatch.setattr(mosaic_profiler, "_bindings", lambda: made)
    monkeypatch.setattr(mosaic_profiler, "cupti_problem", lambda: None)
    gpu = SimpleNamespace(platform="gpu", device_kind="NVIDIA H100")
    monkeypatch.setattr(measuring, "_device", lambda call: gpu)
    return made


@pytest.mark.parametrize("times", [[], None, ()])
def test_nothing_recorded_is_no_time(bindings: Any, times: Any) -> None:
    bindings.times = times
    with pytest.raises(Unavailable, match="CUPTI recorded no kernel of a run"):
        jaxstage_ext.measure(double, X, mode="kernels", runs=3)


def test_a_kernel_of_no_time_is_a_time(bindings: Any) -> None:
    bindings.times = [("fusion", 0.0)]
    assert jaxstage_ext.measure(double, X, mode="kernels", runs=3)[1].median == 0


def test_another_subscriber_is_said_with_what_to_do(bindings: Any) -> None:
    bindings.error = SUBSCRIBED
    with pytest.raises(CuptiError, match=r"Another profiler is subscribed to CUPTI.*mode='wall'") as caught:
        jaxstage_ext.measure(double, X, mode="kernels", runs=3)
    assert caught.value.problem is CuptiProblem.SUBSCRIBED
    assert "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" in str(caught.value)


@pytest.mark.parametrize(("mode", "instead"), [("cupti", "'kernels'"), ("events", "'span'")])
def test_jax_s_modes_are_translated(mode: str, instead: str) -> None:
    with pytest.raises(ValueError, match=instead):
        jaxstage_ext.measure(double, X, mode=mode)
    with fresh_shell() as shell:
        seen = shell.run(f"%profile --measure --mode {mode} loss(w, x)")
    assert isinstance(seen.error, UsageError) and instead in str(seen.error)


def test_iterations_are_runs_and_finalize_is_jax_s(bindings: Any) -> None:
    _, timing = jaxstage_ext.measure(double, X, iterations=7, finalize=False, mode="kernels")
    assert timing.runs == 7
    assert bindings.detached == [False] * 7
    with pytest.raises(ValueError, match="iterations is JAX's word for runs"):
        jaxstage_ext.measure(double, X, iterations=7, runs=3)


def test_a_function_s_own_argument_is_its_own() -> None:
    def steps(x: Any, iterations: int) -> Any:
        return x * iterations

    outputs, timing = jaxstage_ext.measure(steps, X, iterations=5, runs=3)
    assert timing.runs == 3
    np.testing.assert_allclose(outputs, X * 5)

    def any_words(x: Any, **words: int) -> Any:
        return x * words["finalize"]

    np.testing.assert_allclose(jaxstage_ext.measure(any_words, X, finalize=2, runs=3)[0], X * 2)
