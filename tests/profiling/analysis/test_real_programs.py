"""Real programs with one answer, captured on this machine: against JAX's own reader of profiles and the wall clock."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext.core.own_work import WAIT_MODULE
from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.analysis.headline import Bound
from jaxstage_ext.profiling.capture.capture import Capture, CaptureOptions
from jaxstage_ext.profiling.capture.captured_recording import recording_of
from jaxstage_ext.profiling.timeline import Timeline


def profiled(run: Callable[[], Any], steps: int = 2) -> tuple[Timeline, Capture, float]:
    """The timeline of some steps after a first one, its capture, and the seconds of the whole by the wall clock."""
    jax.block_until_ready(run())
    capture, start = Capture("run()", CaptureOptions(steps=steps)), time.perf_counter()
    with capture.recording():
        for _ in range(steps):
            with capture.step() as results:
                results.append(run())
    took = time.perf_counter() - start
    recording = recording_of(capture)
    return Timeline(recording, op_links.places(recording)), capture, took


def by_profile_data(data: bytes) -> dict[int, dict[str, list[tuple[float, float]]]]:
    """Start and end in nanoseconds of the events of each op, by device, by JAX's own reader."""
    found: dict[int, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for plane in jax.profiler.ProfileData.from_serialized_xspace(data).planes:
        for line in plane.lines:
            for event in line.events:
                stats = {key: value for key, value in event.stats if key}
                if is_users(stats):
                    span = (event.start_ns, event.start_ns + event.duration_ns)
                    found[int(stats["device_ordinal"])][str(stats["hlo_op"])].append(span)
    return found


def own_times(data: bytes) -> dict[str, list[float]]:
    """Nanoseconds of the events of each op without those of the ops inside them, by JAX's own reader."""
    found: dict[str, list[float]] = defaultdict(list)
    for plane in jax.profiler.ProfileData.from_serialized_xspace(data).planes:
        for line in plane.lines:
            ops = [(event, dict(pair for pair in event.stats if pair[0])) for event in line.events]
            spans = [(e.start_ns, e.start_ns + e.duration_ns, str(s["hlo_op"])) for e, s in ops if is_users(s)]
            for start, end, op in spans:
                inside = [(a, b) for a, b, _ in spans if start <= a and b <= end and (a, b) != (start, end)]
                found[op].append(end - start - covered(inside))
    return found


def is_users(stats: dict[str, Any]) -> bool:
    return "hlo_op" in stats and stats["hlo_module"] != WAIT_MODULE


def covered(spans: list[tuple[float, float]]) -> float:
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def agrees(timeline: Timeline, capture: Capture, took: float) -> None:
    """Totals per op and busy times are those of JAX's reader; times nest: busy, window, wall clock."""
    theirs = by_profile_data(capture.data)
    ours = {row["op"]: row["total"] for row in timeline.by_op().rows()}
    for op in {op for ops in theirs.values() for op in ops}:
        spans = [span for ops in theirs.values() for span in ops.get(op, [])]
        assert ours[op] == pytest.approx(sum(end - start for start, end in spans) * 1e-9, rel=1e-6, abs=1e-9)
    assert len(timeline.device_times) == len(theirs)
    for device in timeline.device_times:
        spans = [span for spans in theirs[device.device.ordinal].values() for span in spans]
        assert device.work.total <= device.length <= took * 1e12
        assert timeline.work.of(timeline.work.devices.index(device.device)).total == pytest.approx(
            covered(spans) * 1e3, rel=1e-5, abs=1e4
        )
    assert 0 <= timeline.headline.idle <= 1


def heavy(x):
    y = jnp.tanh(x)
    return (y @ y @ y @ y @ y @ y @ y @ y @ y @ y).sum()


def test_the_line_of_the_products_takes_the_time() -> None:
    step, x = jax.jit(heavy), jnp.full((700, 700), 1e-3)
    timeline, capture, took = profiled(lambda: step(x))
    agrees(timeline, capture, took)
    product = heavy.__code__.co_firstlineno + 2
    assert timeline.headline.line == f"{_label(timeline)}:{product}"
    assert timeline.headline.line_share > 0.9 and timeline.attributed > 0.95


def test_a_loop_holds_its_body() -> None:
    def body(c, _):
        return jnp.tanh(c @ c), None

    step, x = jax.jit(lambda x: jax.lax.scan(body, x, None, length=20)[0]), jnp.full((200, 200), 1e-3)
    timeline, capture, took = profiled(lambda: step(x))
    agrees(timeline, capture, took)
    loop = next(row for row in timeline.by_op().rows() if row["op"].startswith("while"))
    expected = sum(own_times(capture.data)[loop["op"]]) * 1e-9
    assert loop["self"] == pytest.approx(expected, rel=1e-5, abs=1e-8), "its body's time is that of the body"
    assert loop["self"] < loop["total"]
    assert timeline.headline.line.endswith(f":{body.__code__.co_firstlineno + 1}")


def test_the_host_is_where_the_time_goes() -> None:
    """Waiting is what a test can do for a known time on any machine."""
    step, x = jax.jit(jnp.tanh), jnp.ones((8, 8))

    def run():
        time.sleep(0.2)
        return step(x)

    timeline, capture, took = profiled(run)
    agrees(timeline, capture, took)
    headline = timeline.headline
    assert headline.idle > 0.5 and headline.bound in (Bound.HOST, Bound.IDLE)
    if headline.bound is Bound.HOST:  # the sampler may not have had its turns on a machine that is busy
        share = "mostly" if headline.doing.share >= 0.5 else f"{headline.doing.share:.0%} of that"
        assert f"{share} while the host runs time.sleep(0.2)" in timeline_wording.sentence(headline)
        assert headline.host_line.endswith(f":{run.__code__.co_firstlineno + 1}")


def test_collectives_of_four_devices() -> None:
    if jax.local_device_count() < 4:
        pytest.skip("needs four virtual CPU devices")
    mesh = jax.make_mesh((4,), ("d",), devices=jax.devices()[:4])
    step = jax.jit(jax.shard_map(lambda a: jax.lax.psum(a, "d"), mesh=mesh, in_specs=P("d"), out_specs=P()))
    x = jax.device_put(np.ones((4, 500_000), np.float32), NamedSharding(mesh, P("d")))
    timeline, capture, took = profiled(lambda: step(x))
    agrees(timeline, capture, took)
    assert len(timeline.device_times) == 4
    assert all(device.collective.total for device in timeline.device_times)
    [collective] = [row for row in timeline.by_kind().rows() if row["activity"] == "collective"]
    assert collective["share"] > 0.5


def _label(timeline: Timeline) -> str:
    [file] = [file for file in timeline.places.frames.files if file.name == __file__]
    return file.label
