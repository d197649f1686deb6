"""Ctrl-C at any moment of a capture: no session, lock, thread or hook of JAX is left, and the next profile is right."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from types import FrameType

import jax
import jax.numpy as jnp
import pytest
from attack import Attack
from interrupts import interrupt
from jax._src import compiler, monitoring

from jaxstage_ext import profile
from jaxstage_ext.core.jax_private import profiler
from jaxstage_ext.report.recording import EventKind

X = jnp.ones((64, 64))
SECONDS = 0.06
"""About what a capture takes."""


@jax.jit
def product(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x).sum()


def loop(x: jax.Array) -> jax.Array:
    for _ in range(10):
        product(x).block_until_ready()
        time.sleep(0.002)
    return product(x)


def captured(staged: bool) -> None:
    profile(product, X, steps=20) if staged else profile(loop, X)


def raised_in_a_capture(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, as Python does, but not in what runs the tests, which it would end."""
    while frame is not None:
        if frame.f_code is captured.__code__:
            raise KeyboardInterrupt
        frame = frame.f_back


def interrupted(staged: bool, after: float, times: int) -> str:
    def send() -> None:
        time.sleep(after)
        for _ in range(times):
            interrupt()
            time.sleep(0.003)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        captured(staged)
        outcome = "done before"
    except KeyboardInterrupt:
        outcome = "interrupted"
    thread.join()
    return outcome


def check_nothing_is_left() -> None:
    assert not profiler.session_runs(), "a session"
    assert not any(thread.name == "jaxstage sampler" for thread in threading.enumerate()), "a thread"
    hooks = [*monitoring._event_duration_secs_listeners]
    assert not [hook for hook in hooks if hook.__module__.startswith("jaxstage_ext")], "a listener"


@pytest.mark.timeout(600)
def test_captures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # Python drops one that comes in a callback
    original = compiler.compile_or_get_cached
    captured(True), captured(False)
    former = signal.signal(signal.SIGINT, raised_in_a_capture)
    try:
        for rng in (attack := Attack("interrupted captures", attempts=400, in_ci=30, request=request)):
            attack.ended(attempt(rng))
    finally:
        signal.signal(signal.SIGINT, former)
    assert compiler.compile_or_get_cached is original


def attempt(rng: random.Random) -> str:
    staged = rng.random() < 0.5
    outcome = interrupted(staged, rng.uniform(0, SECONDS), rng.choice((1, 1, 4)))
    check_nothing_is_left()
    _, inspection = profile(product, X)
    assert EventKind.OP in inspection.timeline.columns.kind.tolist(), "the next profile is right"
    return f"{'jitted' if staged else 'Python'} {outcome}"
