"""What a pre-flight costs: one meeting a new program, nothing a call, and the digest of a large module."""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import monitoring
from several_processes import run_job

from jaxstage_ext.core.jax_private import compile_frames, pending_compile
from jaxstage_ext.processes import program_reading
from tests.benchmarks.table import row

pytestmark = pytest.mark.benchmark
_EVENT = "/jax/core/compile/backend_compile_duration"
MEETING, SHARE, CALL = 0.02, 0.01, 1.3
"""Seconds of a meeting, the digest's share of the compile, and a call inside the block over one outside."""


def test_a_meeting_takes_one_round_trip_and_a_call_nothing(tmp_path: Path) -> None:
    told = run_job("timed_meetings.py", tmp_path)
    waits = [statistics.median(one["waits"]) for one in told]
    most = f"at most {MEETING * 1e3:.0f} ms"
    row("meeting of two processes", f"{max(waits) * 1e3:.1f} ms", "-", most, max(waits) <= MEETING)
    ratio = statistics.median([one["inside"] / one["outside"] for one in told])
    row("200 calls in the block", f"{ratio:.2f} times", "those outside", f"at most {CALL}", ratio <= CALL)


def loss(weights: list[jax.Array], x: jax.Array) -> jax.Array:
    for weight in weights:
        hidden = jax.nn.gelu(x @ weight)
        x = x + jax.nn.softmax(hidden) * hidden
    return jnp.mean(x**2)


def test_the_digest_of_a_large_module_is_a_small_share_of_its_compile() -> None:
    seconds: list[float] = []

    def digested(frame: FrameType) -> None:
        pending = pending_compile.pending_compile(compile_frames.event_frames(frame))
        assert pending is not None
        program_reading.digests(pending, {})

    def begins(event: str, value: float, **_: Any) -> None:
        if event == _EVENT:
            began = time.perf_counter()
            digested(sys._getframe(1))
            seconds.append(time.perf_counter() - began)

    weights, x = [jnp.ones((64, 64))] * 40, jnp.ones((8, 64))
    monitoring.register_scalar_listener(begins)
    try:
        began = time.perf_counter()
        jax.jit(jax.grad(loss))(weights, x)
        whole = time.perf_counter() - began
    finally:
        monitoring.unregister_scalar_listener(begins)
    share = seconds[-1] / whole
    row("digest of a module", f"{seconds[-1] * 1e3:.1f} ms", f"{whole:.1f} s", f"at most {SHARE:.0%}", share <= SHARE)
