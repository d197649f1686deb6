"""Every event of a profile is what JAX's own reader says it is."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.recording import DEVICE_WORK, NONE, Recording
from tests.helpers.profiles import XPLANES, captured, trace_bytes

_UNNAMED = "(no name)"


def _ours(recording: Recording) -> Counter[tuple[Any, ...]]:
    events, ops = recording.events, recording.ops
    rows = zip(events.name, events.start, events.duration, events.op, events.kind, events.correlation, strict=True)
    found: Counter[tuple[Any, ...]] = Counter()
    for name, start, duration, op, kind, correlation in rows:
        known = op != NONE and kind in DEVICE_WORK
        module = recording.modules[ops.module[op]].name if known else None
        instruction = ops.name[op] if known else None
        found[recording.names[name], int(start), int(duration), module, instruction, int(correlation)] += 1
    return found


def _theirs(data: bytes) -> tuple[Counter[tuple[Any, ...]], int]:
    found: Counter[tuple[Any, ...]] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for plane in jax.profiler.ProfileData.from_serialized_xspace(data).planes:
            for line in plane.lines:
                for event in line.events:
                    stats = dict(event.stats)
                    runs = "hlo_op" in stats and ("GPU" in plane.name or "correlation_id" not in stats)
                    module, op = (stats["hlo_module"], stats["hlo_op"]) if runs else (None, None)
                    key = (event.name or _UNNAMED, round(event.start_ns * 1000), round(event.duration_ns * 1000))
                    found[(*key, module, op, stats.get("correlation_id", 0))] += 1
    return found, sum(found.values())


def _agree(data: bytes) -> Recording:
    recording = xplane.read(data, "a profile")
    theirs, total = _theirs(data)
    assert recording.total == total == len(recording.events)
    assert _ours(recording) == theirs
    return recording


@pytest.mark.parametrize("name", XPLANES)
def test_every_event_of_a_real_profile_of_another_device(name: str) -> None:
    _agree(trace_bytes(f"{name}.xplane.pb"))


def test_every_event_of_a_profile_of_this_cpu() -> None:
    step = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda _, c: jnp.tanh(c @ c), x).sum())
    x = jnp.ones((32, 32))
    step(x).block_until_ready()
    recording = _agree(captured(lambda: [step(x) for _ in range(4)]))
    assert {recording.modules[m].name for m in recording.ops.module} == {"jit__lambda"}
    assert len(set(recording.events.run[recording.events.op != NONE].tolist())) == 4
