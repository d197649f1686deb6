"""`measure` as a user calls it: what it runs and how often, what it counts, and errors in one line."""

from __future__ import annotations

import functools
import re
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext.profiling.capture.session_lock import ProfilerBusy, profiler_session
from jaxstage_ext.profiling.timing.measured_call import Arguments, DonatedArguments
from jaxstage_ext.profiling.timing.timing_modes import TimeSource, TimingMode

X = np.ones((64, 64), np.float32)
measure = functools.partial(jaxstage_ext.measure, seconds=0.05)


def test_it_gives_the_outputs_and_a_wall_time_on_a_cpu() -> None:
    outputs, timing = measure(lambda x: {"y": x @ x}, X)
    np.testing.assert_allclose(outputs["y"], X @ X)
    assert (timing.mode, timing.source, timing.device) == (TimingMode.WALL, TimeSource.HOST_CLOCK, "CPU")
    assert timing.runs >= 3


def test_a_plain_function_is_traced_once_and_never_run_as_python() -> None:
    traced = []

    def f(x: Any) -> Any:
        traced.append(isinstance(x, jax.core.Tracer))
        return x + 1

    _, timing = measure(f, X, runs=8)
    assert traced == [True]
    assert timing.runs == 8


def test_compiling_and_first_runs_are_apart() -> None:
    ran: list[int] = []

    def f(x: Any) -> Any:
        time.sleep(0.2)  # while it is traced
        jax.debug.callback(lambda: ran.append(1), ordered=True)
        return x + 1

    jitted = jax.jit(f)
    _, timing = measure(jitted, X, runs=6)
    assert timing.compile_seconds is not None
    assert timing.compile_seconds >= 0.2
    jax.effects_barrier()  # type: ignore[no-untyped-call]
    assert len(ran) == len(timing.warm_up) + 6
    assert measure(jitted, X, runs=1)[1].compile_seconds is None


def test_wall_is_at_least_what_the_call_waits_for() -> None:
    def f(x: Any) -> Any:
        return jax.pure_callback(lambda x: (time.sleep(0.02), x)[1], jax.ShapeDtypeStruct(X.shape, X.dtype), x)

    _, timing = measure(f, X, runs=6)
    assert timing.minimum >= 0.02


@pytest.mark.parametrize("mode", ["kernels", "span"])
def test_the_profiler_s_modes_name_the_cpu(mode: str) -> None:
    _, timing = measure(lambda x: jnp.tanh(x @ x) @ x, X, mode=mode, runs=7)
    assert (timing.mode.value, timing.source, timing.runs) == (mode, TimeSource.CPU_TRACE, 7)
    assert timing.kernels is None
    assert f"{mode} on CPU" in str(timing)


def test_kernels_are_listed_on_request_and_add_up() -> None:
    _, timing = measure(lambda x: jnp.tanh(x @ x) @ x, X, aggregate=False, runs=1)
    assert timing.kernels is not None
    assert sum(ms for _, ms in timing.kernels) == pytest.approx(1e3 * timing.median)
    assert any("tanh" in name for name, _ in timing.kernels)


def test_a_loop_s_kernels_are_those_of_its_body() -> None:
    def loop(x: Any) -> Any:
        return jax.lax.fori_loop(0, 20, lambda _, x: jnp.tanh(x @ x), x)

    _, timing = measure(loop, X, aggregate=False, runs=2)
    assert timing.kernels is not None
    assert not [name for name, _ in timing.kernels if name.startswith("while")]
    assert max(sum(name == one for name, _ in timing.kernels) for one, _ in timing.kernels) == 20


def _donating() -> Any:
    return jax.jit(lambda state, x: (jax.tree.map(lambda leaf: leaf + x.sum(), state), x.sum()), donate_argnums=0)


def test_donation_is_refused_with_the_way_out_and_the_arrays_stay() -> None:
    state = {"w": jnp.ones(1000)}
    with pytest.raises(DonatedArguments, match=r"donates args\[0\]\['w'\].*setup=lambda"):
        measure(_donating(), state, X)
    assert not state["w"].is_deleted()


def test_setup_makes_fresh_arguments_for_every_run() -> None:
    made: list[Any] = []

    def fresh() -> Any:
        made.append({"w": jnp.full(1000, float(len(made)))})
        return made[-1], X

    (outputs, _), timing = measure(_donating(), setup=fresh, runs=6)
    assert len(made) == len(timing.warm_up) + 6
    np.testing.assert_allclose(outputs["w"], len(made) - 1 + X.sum())
    assert measure(lambda x, k: x * k, setup=lambda: Arguments((X,), {"k": 2.0}), runs=1)[0][0, 0] == 2
    assert measure(lambda x: x, setup=lambda: X, runs=1)[0].shape == X.shape


def test_unused_donation_needs_no_setup() -> None:
    with pytest.warns(UserWarning, match="donated buffers"):
        _, timing = measure(jax.jit(lambda x: x.sum(), donate_argnums=0), jnp.ones((4, 5)), runs=2)
    assert timing.runs == 2


def test_arrays_that_are_deleted_already() -> None:
    state = {"w": jnp.ones(3)}
    state["w"].delete()
    with pytest.raises(ValueError, match=r"deleted.*args\[0\]\['w'\]"):
        measure(_donating(), state, X)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((lambda x: x, X), {"mode": "gpu"}, "mode='gpu' is unknown; give 'auto', 'kernels', 'span', 'wall'"),
        ((lambda x: x, X), {"mode": "span", "aggregate": False}, "a span is one time; give mode='kernels'"),
        ((lambda x: x, X), {"mode": "wall", "aggregate": False}, "a wall is one time; give mode='kernels'"),
        ((lambda: jnp.ones(3),), {"mode": "kernels"}, "needs an array among the arguments"),
        ((lambda x: None, X), {"mode": "span"}, "needs an array among the outputs"),
        ((lambda x: x, X), {"runs": 0}, "runs=0 is not a number of runs from 1 to 10,000"),
        ((lambda x: x, X), {"seconds": -1}, "seconds=-1 is not a number of seconds"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(
    arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        jaxstage_ext.measure(*arguments, **options)
    assert "\n" not in str(raised.value)


def test_what_is_not_a_function() -> None:
    with pytest.raises(TypeError, match="3 is an int, not a function"):
        measure(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="setup must be a function"):
        measure(lambda x: x, X, setup=3)  # type: ignore[arg-type]


def test_a_profiler_that_runs_is_in_the_way_of_kernels_and_not_of_wall() -> None:
    with profiler_session("%%profile of step"):
        with pytest.raises(ProfilerBusy, match="in use by %%profile of step"):
            measure(lambda x: x + 1, X, mode="kernels")
        assert measure(lambda x: x + 1, X)[1].mode is TimingMode.WALL


def test_staged_functions_are_run_as_they_are() -> None:
    jitted = jax.jit(lambda x, n: x * n, static_argnames="n")
    assert measure(jitted, X, n=3, runs=1)[0][0, 0] == 3
    compiled = jitted.lower(X, n=4).compile()
    assert measure(compiled, X, runs=1)[0][0, 0] == 4
    assert measure(functools.partial(jitted, n=5), X, runs=1)[0][0, 0] == 5


def test_ctrl_c_keeps_the_runs_until_then() -> None:
    count = [0]

    def fresh() -> Any:
        count[0] += 1
        if count[0] > 20:
            raise KeyboardInterrupt
        return X

    outputs, timing = jaxstage_ext.measure(lambda x: x + 1, setup=fresh, runs=1000)
    assert timing.interrupted
    assert timing.runs == 20 - len(timing.warm_up)
    assert outputs[0, 0] == 2
    assert "Interrupted" in str(timing)


def untraceable(x: jax.Array) -> jax.Array:
    return x * time.strptime(x)  # type: ignore[arg-type]


def test_python_without_arrays_is_measured_as_written() -> None:
    outputs, timing = measure(time.strftime, "%Y", time.gmtime(0), runs=2)
    assert outputs == "1970" and timing.mode is TimingMode.WALL and "not jitted" in str(timing)


def test_python_that_cannot_be_traced_is_explained() -> None:
    with pytest.raises(TypeError) as raised:
        measure(untraceable, X)
    assert "untraceable is not jitted, so it was jitted to be measured" in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    with pytest.raises(TypeError) as of_jitted:
        measure(jax.jit(lambda x: x + "a"), X)
    assert "jitted to be" not in str(of_jitted.value)
