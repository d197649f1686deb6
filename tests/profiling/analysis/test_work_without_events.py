"""A CPU that works without an event of the profiler is not idle, and what it computes then leads nobody."""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.profiling.analysis.headline import Bound
from jaxstage_ext.profiling.analysis.timeline_wording import sentence
from jaxstage_ext.profiling.event_kinds import RUNS_ON
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.running.timeline_rates import with_rates
from jaxstage_ext.report.recording import EventKind, EventLane, LaneKind
from tests.helpers.recordings import Event
from tests.profiling.analysis.test_headlines import places, recording
from tests.profiling.analysis.test_real_programs import profiled

THREAD = EventLane("CPU", "tf_XLAExecute", LaneKind.OPS)


def made(waits_until: float, device: int = 0) -> Timeline:
    """Line 1 computes for 10 µs, line 2 begins to sort; then XLA waits for its own threads."""
    events = [
        Event(THREAD.name, "dot.1", 0, 10, op=("jit_step", "dot.1")),
        Event(THREAD.name, "sort.1", 10, 1, op=("jit_step", "sort.1")),
        Event("waits", RUNS_ON, 11, waits_until - 11, EventKind.WAIT, device=device),
        Event(THREAD.name, "add.1", waits_until, 1, op=("jit_step", "add.1")),
    ]
    lanes = [THREAD, EventLane("host", "waits", LaneKind.HOST)]
    read = recording(events, lanes)
    return Timeline(read, places(read, {"dot.1": 1, "sort.1": 2, "add.1": 2}))


def test_the_time_in_which_xla_waits_for_its_own_threads_is_neither_idle_nor_a_lines() -> None:
    shown = made(waits_until=99)  # by hand: 88 of 100 µs
    headline = shown.headline
    assert (headline.idle, headline.unrecorded) == (0, pytest.approx(0.88))
    assert (headline.line, headline.op, headline.bound) == ("", "", Bound.UNRECORDED)
    assert np.isnan(shown.by_line()["share"]).all()
    assert shown.busy()["unrecorded"].tolist() == [pytest.approx(88e-6)]


def test_a_moment_without_an_event_changes_no_line() -> None:
    headline = made(waits_until=11.05).headline
    assert headline.line.endswith(":1")
    assert headline.line_share == pytest.approx(10 / 12)


@pytest.mark.parametrize(
    ("waits_until", "share", "may_trail"),
    [(15, 10 / 16, False), (18.5, 10 / 19.5, False), (20, 10 / 21, True), (22, None, False)],
)
def test_a_line_leads_where_no_other_can_have_run_as_long(
    waits_until: float, share: float | None, may_trail: bool
) -> None:
    """By hand: 10 µs of line 1, 2 of line 2, and the wait from 11 µs on may be of line 2, or of a third."""
    headline = made(waits_until).headline
    if share is None:
        assert headline.line == ""
        return
    assert headline.line.endswith(":1")
    assert (headline.line_share, headline.is_least, headline.may_trail) == (pytest.approx(share), True, may_trail)
    assert "takes at least" in sentence(headline)
    assert ("more than any other line that has events" in sentence(headline)) == may_trail


def test_the_wait_of_another_device_says_nothing_of_this_one() -> None:
    headline = made(waits_until=99, device=1).headline
    assert (headline.idle, headline.unrecorded) == (pytest.approx(0.88), 0)


def test_a_batched_sort_is_no_idleness_by_the_cpu_time_of_the_process() -> None:
    """XLA:CPU sorts columns on threads that it records nothing of."""
    a, b = jnp.ones((64, 64)), jax.random.normal(jax.random.key(0), (1500, 700))

    @jax.jit
    def step(a: jax.Array, b: jax.Array) -> jax.Array:
        c = jnp.sin(a @ a)
        return c.sum() + jnp.sort(b, axis=0).sum()

    jax.block_until_ready(step(a, b))
    before = time.process_time()
    jax.block_until_ready(step(a, b))
    computed = time.process_time() - before
    timeline, _, _ = profiled(lambda: step(a, b), steps=1)
    [row] = timeline.busy().rows()
    unrecorded = row.get("unrecorded", 0.0)  # JAX 0.10 has an event of all of it
    # Two cores work at most twice as long as the device is said to work.
    assert 2 * (row["busy"] + unrecorded) > 0.5 * computed
    assert timeline.headline.idle < 0.5
    first = step.__wrapped__.__code__.co_firstlineno
    assert not timeline.headline.line.endswith(f":{first + 2}")  # the product, which takes a hundredth of the sort
    if unrecorded > 0.1 * row["busy"]:
        assert timeline.headline.line == "" or timeline.headline.is_least
        rates = with_rates(inspect(step, a, b).program, timeline, timeline.by_op(), "op")
        assert np.isnan(rates["FLOP/s"]).all()


def test_a_profile_that_names_no_device_means_its_only_one() -> None:
    headline = made(waits_until=99, device=-1).headline
    assert (headline.idle, headline.unrecorded) == (0, pytest.approx(0.88))
