"""What the tables of a large timeline take, beside reading it. `make benchmarks` prints the table."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.profiling.xplane import xplane
from tests.benchmarks.table import pairs, row
from tests.helpers.big_profiles import repeated
from tests.helpers.profiles import captured

pytestmark = pytest.mark.benchmark
EVENTS = 1_100_000


def test_tables_of_a_million_events_take_less_than_reading_them() -> None:
    step = jax.jit(lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c @ c), None), x, None, length=5)[0].sum())
    x = jnp.ones((64, 64))
    step(x).block_until_ready()
    data = repeated(captured(lambda: [step(x).block_until_ready() for _ in range(400)]), EVENTS)
    recording = xplane.read(data, "large")
    places = op_links.places(recording)

    def tables() -> None:
        timeline = Timeline(recording, places)
        assert len(timeline.nesting.parent) >= EVENTS
        assert len(timeline.by_op()) and len(timeline.by_line())

    took = pairs(tables, lambda: xplane.read(data, "large"), rounds=3)
    row(
        f"{len(recording.events):,} events: nesting, time by op and by line",
        f"{took.ours:.2f} s",
        f"reading {took.theirs:.2f} s",
        "<= 1 x",
        took.ratio <= 1,
    )
