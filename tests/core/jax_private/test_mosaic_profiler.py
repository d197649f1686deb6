"""Kernel times through JAX's CUPTI bindings, here with bindings that answer as those of both JAX versions do."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.core.jax_private import mosaic_profiler
from jaxstage_ext.core.jax_private.mosaic_profiler import CuptiError, CuptiProblem, kernel_times

CONFLICT = (
    "Mosaic GPU profiler error: Attempted to subscribe to CUPTI while another subscriber, such as Nsight Systems or "
    "Nsight Compute, is active. CUPTI backend of the Mosaic GPU profiler cannot be used in that mode since CUPTI does "
    "not support multiple subscribers."
)
NESTED = "Mosaic GPU profiler error: Nested or concurrent Mosaic CUPTI profiling is not supported."
NO_GPU = "Mosaic GPU profiler error: CUPTI_ERROR_UNKNOWN: failed to subscribe to CUPTI"


class Bindings:
    """JAX's extension module: it says what it was asked, and fails where it is to fail."""

    def __init__(self, times: Any = (("fusion_1", 0.25),), start: str = "", end: str = "") -> None:
        self.times, self.start, self.end, self.asked = times, start, end, []

    def _cupti_init(self) -> None:
        self.asked.append("init")
        if self.start:
            raise RuntimeError(self.start)

    def _cupti_get_timings(self, finalize: bool) -> Any:
        self.asked.append(f"times {finalize}")
        if self.end:
            raise RuntimeError(self.end)
        return self.times


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    def bind(bindings: Any) -> Any:
        monkeypatch.setattr(mosaic_profiler, "_bindings", lambda: bindings)
        return bindings

    return bind


def test_each_kernel_and_its_milliseconds(bound: Callable[[Any], Any]) -> None:
    bindings = bound(Bindings([("a", 0.5), ("b", 1)]))
    outputs, times = kernel_times(lambda: jnp.arange(3) + 1)
    assert np.array_equal(outputs, [1, 2, 3]) and times == [("a", 0.5), ("b", 1.0)]
    assert bindings.asked == ["init", "times True"]


@pytest.mark.parametrize("times", [None, [], ()])
def test_nothing_ran_on_a_gpu(bound: Callable[[Any], Any], times: Any) -> None:
    bound(Bindings(times))
    assert kernel_times(lambda: 3, detach=False) == (3, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (CONFLICT, CuptiProblem.SUBSCRIBED),
        (NESTED, CuptiProblem.SUBSCRIBED),
        ("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", CuptiProblem.SUBSCRIBED),
        (NO_GPU, CuptiProblem.FAILED),
    ],
)
def test_a_run_that_cannot_be_recorded_is_not_made(
    bound: Callable[[Any], Any], text: str, problem: CuptiProblem
) -> None:
    bindings = bound(Bindings(start=text))
    runs: list[str] = []
    with pytest.raises(CuptiError) as caught:
        kernel_times(lambda: runs.append("it ran"))
    assert caught.value.problem is problem and str(caught.value) == text and bindings.asked == ["init"]
    assert runs == []


def test_a_run_that_raises_leaves_cupti(bound: Callable[[Any], Any]) -> None:
    bindings = bound(Bindings(end="Mosaic CUPTI profiling is not active."))
    with pytest.raises(ZeroDivisionError):
        kernel_times(lambda: 1 // 0)
    assert bindings.asked == ["init", "times True"]
    bound(Bindings())
    assert kernel_times(lambda: 1)[1] == [("fusion_1", 0.25)]


def test_one_at_a_time(bound: Callable[[Any], Any]) -> None:
    bound(Bindings())
    with pytest.raises(CuptiError, match="already times kernels") as caught:
        kernel_times(lambda: kernel_times(lambda: 1))
    assert caught.value.problem is CuptiProblem.SUBSCRIBED
    assert kernel_times(lambda: 1)[0] == 1


def test_times_that_cupti_fails_to_give(bound: Callable[[Any], Any]) -> None:
    bound(Bindings(end="Mosaic GPU profiler error: CUPTI_ERROR_UNKNOWN: failed to flush CUPTI activity buffers"))
    with pytest.raises(CuptiError, match="failed to flush") as caught:
        kernel_times(lambda: 1)
    assert caught.value.problem is CuptiProblem.FAILED


def test_two_profilers_at_once_by_version(bound: Callable[[Any], Any]) -> None:
    bound(SimpleNamespace())
    assert mosaic_profiler.cupti_shares() is False
    bound(SimpleNamespace(_cupti_v2_available=lambda: True))
    assert mosaic_profiler.cupti_shares() is True


def test_a_machine_without_cuda_is_known_before_the_run() -> None:
    problem = mosaic_profiler.cupti_problem()
    assert problem is not None and problem.problem is CuptiProblem.NO_DEVICE and "cuda" in str(problem)


def test_no_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jax._src.lib.mosaic_gpu", None)
    monkeypatch.delattr("jax._src.lib.mosaic_gpu", raising=False)
    with pytest.raises(CuptiError) as caught:
        kernel_times(lambda: 1)
    assert caught.value.problem is CuptiProblem.NO_LIBRARY and mosaic_profiler.cupti_shares() is None


def test_jax_has_these_bindings() -> None:
    """What JAX's plugin of this version raises without a GPU; skipped where the plugin is not installed."""
    pytest.importorskip("jax_cuda13_plugin")
    runs: list[str] = []
    with pytest.raises(CuptiError, match="CUPTI") as caught:
        kernel_times(lambda: runs.append("it ran"))
    assert caught.value.problem is CuptiProblem.FAILED
    assert runs == []
