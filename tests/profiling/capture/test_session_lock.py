"""One profiler session per process: the second is refused before it runs, with the name of the first."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.profiling.capture.session_lock import ProfilerBusy, profiler_session


@pytest.fixture(autouse=True)
def _backend() -> None:
    jax.block_until_ready(jnp.ones(3))  # type: ignore[no-untyped-call]


def test_a_second_holder_reads_who_has_it() -> None:
    with (
        profiler_session("%%profile of step"),
        pytest.raises(ProfilerBusy, match="in use by %%profile of step"),
        profiler_session("measure(f)"),
    ):
        pytest.fail("the second session began")
    with profiler_session("measure(f)"):
        pass


def test_it_is_free_after_an_error_and_from_another_thread() -> None:
    with pytest.raises(ZeroDivisionError), profiler_session("first"):
        raise ZeroDivisionError
    refused: list[str] = []

    def second() -> None:
        try:
            with profiler_session("second"):
                refused.append("")
        except ProfilerBusy as error:
            refused.append(str(error))

    with profiler_session("first"):
        (thread := threading.Thread(target=second)).start()
        thread.join()
    assert "in use by first" in refused[0]


def test_a_profile_of_jax_s_own_is_recognised_and_survives() -> None:
    with tempfile.TemporaryDirectory() as folder:
        jax.profiler.start_trace(folder)
        try:
            with pytest.raises(ProfilerBusy, match="stop_trace"), profiler_session("measure(f)"):
                pytest.fail("a session began beside JAX's")
        finally:
            jax.profiler.stop_trace()  # type: ignore[no-untyped-call]
        assert list(Path(folder).rglob("*.xplane.pb"))
    with profiler_session("measure(f)"):
        pass


def test_a_session_that_jax_does_not_know_is_recognised() -> None:
    from jax._src.lib import _profiler

    held = _profiler.ProfilerSession()
    with pytest.raises(ProfilerBusy, match="another profiler session"), profiler_session("measure(f)"):
        pytest.fail("a session began beside another")
    assert held.stop()
    with profiler_session("measure(f)"):
        pass
