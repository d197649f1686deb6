"""Words of JAX's own `measure`, and what times kernels on a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError
from jax._src.lib import mosaic_gpu
from magic_shell import fresh_shell

import jaxstage_ext
from jaxstage_ext.profiling.timing import measure as measuring
from jaxstage_ext.profiling.timing.timing_modes import TimeSource

X = np.ones(8, np.float32)


def double(x: Any) -> Any:
    return x * 2


@pytest.fixture
def cupti(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Calls of JAX's own binding of CUPTI, on a device that says that it is a GPU.

    On an H200 with JAX 0.11.2 these two ended the process ("activity records were dropped", thrown where nothing can
    catch it) in each measurement that came after a profile.
    """
    calls: list[str] = []
    bindings = SimpleNamespace(
        _cupti_init=lambda: calls.append("init"),
        _cupti_get_timings=lambda finalize: calls.append("get") or [("f", 1.0)],
    )
    monkeypatch.setattr(mosaic_gpu, "_mosaic_gpu_ext", bindings, raising=False)
    monkeypatch.setattr(measuring, "_device", lambda call: SimpleNamespace(platform="gpu", device_kind="NVIDIA H200"))
    return calls


@pytest.mark.parametrize("mode", ["auto", "kernels", "span"])
def test_a_gpu_s_kernels_are_timed_by_the_profiler(cupti: list[str], mode: str) -> None:
    _, timing = jaxstage_ext.measure(double, X, mode=mode, runs=3)
    assert (timing.source, cupti) == (TimeSource.DEVICE_TRACE, [])


@pytest.mark.parametrize(("mode", "instead"), [("cupti", "'kernels'"), ("events", "'span'")])
def test_jax_s_modes_are_translated(mode: str, instead: str) -> None:
    with pytest.raises(ValueError, match=instead):
        jaxstage_ext.measure(double, X, mode=mode)
    with fresh_shell() as shell:
        seen = shell.run(f"%profile --measure --mode {mode} loss(w, x)")
    assert isinstance(seen.error, UsageError) and instead in str(seen.error)


def test_iterations_are_runs_and_finalize_changes_nothing() -> None:
    _, timing = jaxstage_ext.measure(double, X, iterations=7, finalize=False, mode="kernels")
    assert timing.runs == 7
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
