"""What profiling costs the code that is profiled, beside the same code alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.profiling.capture import Capture, CaptureOptions
from jaxstage_ext.profiling.captured_timeline import recording_of
from jaxstage_ext.profiling.sampler import sampled
from tests.benchmarks.table import pairs, row, seconds

pytestmark = pytest.mark.benchmark
ROUNDS = 9


def python_loop() -> int:
    total = 0
    for number in range(6_000_000):
        total += number
    return total


@jax.jit
def step(w: jax.Array) -> jax.Array:
    return jnp.tanh(w @ w) * 0.1


def many_small_calls() -> jax.Array:
    w = jnp.ones((16, 16))
    for _ in range(8_000):
        w = step(w)
    return w.block_until_ready()


def steps_of_a_millisecond() -> jax.Array:
    w = jnp.ones((400, 400))
    for _ in range(150):
        w = step(w).block_until_ready()
    return w


@pytest.mark.parametrize("work", [python_loop, many_small_calls, steps_of_a_millisecond])
def test_sampling(work: Callable[[], Any]) -> None:
    """The goal leaves room for a machine whose cores XLA's own threads fill."""

    def with_sampling() -> None:
        with sampled():
            work()

    work()
    made = pairs(with_sampling, work, ROUNDS)
    what = f"sampled: {work.__name__}"
    row(what, f"{made.ratio:.3f} x", f"{made.theirs * 1e3:.0f} ms alone", "<= 1.15 x", made.ratio <= 1.15)


@pytest.mark.parametrize("sample", [True, False])
def test_a_capture_of_steps_of_a_millisecond(sample: bool) -> None:
    def captured() -> None:
        capture = Capture("steps", CaptureOptions(sample=sample))
        with capture.recording(), capture.step() as results:
            results.append(steps_of_a_millisecond())

    captured()
    made = pairs(captured, steps_of_a_millisecond, ROUNDS)
    what = f"captured{' and sampled' if sample else ''}, start and stop included"
    row(what, f"{made.ratio:.3f} x", f"{made.theirs * 1e3:.0f} ms alone", "<= 1.3 x", made.ratio <= 1.3)


def test_from_a_capture_to_its_recording() -> None:
    capture = Capture("calls")
    with capture.recording(), capture.step() as results:
        results.append(many_small_calls())
    recording_of(capture)
    taken = min(seconds(lambda: recording_of(capture)) for _ in range(5))
    events = recording_of(capture).total
    per_million = taken / events * 1e6
    what = "a capture as a recording, per million events"
    row(what, f"{per_million:.2f} s", f"{events:,} events", "<= 3 s", per_million <= 3)
