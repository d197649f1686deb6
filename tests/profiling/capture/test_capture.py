"""Captures of real runs: what they hold, and what they leave behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import profiler as jax_profiler

from jaxstage_ext.core.jax_private import profiler
from jaxstage_ext.profiling.capture import captured_recording
from jaxstage_ext.profiling.capture.capture import Capture, CaptureOptions
from jaxstage_ext.profiling.capture.captured_recording import recording_of, running
from jaxstage_ext.profiling.capture.sampler import Samples
from jaxstage_ext.profiling.capture.session_lock import ProfilerBusy
from jaxstage_ext.report.recording import EventKind, Loss, Recording

X = jnp.ones((64, 64))


@jax.jit
def product(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x).sum()


def captured(run: Callable[[], object], **options: int | bool) -> Recording:
    capture = Capture("run()", CaptureOptions(**options))  # type: ignore[arg-type]
    with capture.recording():
        for _ in range(capture.options.steps):
            with capture.step() as results:
                results.append(run())
    return recording_of(capture)


def of_kind(recording: Recording, kind: EventKind) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.flatnonzero(recording.events.kind == kind)


def names(recording: Recording, kind: EventKind) -> list[str]:
    return [recording.names[i] for i in recording.events.name[of_kind(recording, kind)].tolist()]


@pytest.fixture(autouse=True)
def _nothing_is_left_open() -> object:
    product(X).block_until_ready()
    yield
    assert not profiler.session_runs()


def test_each_step_holds_its_ops() -> None:
    recording = captured(lambda: product(X), steps=3)
    steps, ops = of_kind(recording, EventKind.STEP), of_kind(recording, EventKind.OP)
    assert len(steps) == 3 and len(ops) >= 3
    start, end = recording.events.start, recording.events.end
    inside = [(start[ops] >= start[step]) & (end[ops] <= end[step]) for step in steps]
    assert np.array(inside).sum(axis=0).tolist() == [1] * len(ops), "every op is in one step: results are waited for"
    assert {recording.modules[i].name for i in np.unique(recording.ops.module)} == {"jit_product"}
    assert not recording.lost and recording.total == len(recording.events)


def test_the_modules_that_ran_are_in_the_profile() -> None:
    recording = captured(lambda: product(X))
    [ran] = np.unique(recording.ops.module).tolist()
    module = recording.modules[ran]
    assert module.name == "jit_product" and module.proto is not None and b"tanh" in module.proto()


def test_what_jax_compiles_is_in_the_recording_and_only_then() -> None:
    assert not names(captured(lambda: product(X)), EventKind.COMPILE)

    def fresh(x: jax.Array) -> jax.Array:
        return jnp.cos(x)

    compiles = names(captured(lambda: jax.jit(fresh)(X)), EventKind.COMPILE)
    assert {"trace fresh", "lower jit(fresh)", "compile jit(fresh)"} <= set(compiles)


def test_what_was_captured_before_an_error_is_kept() -> None:
    capture = stopped_by(ZeroDivisionError())
    assert isinstance(capture.error, ZeroDivisionError)
    recording = recording_of(capture)
    assert len(of_kind(recording, EventKind.OP)) and len(of_kind(recording, EventKind.STEP)) == 1


def test_an_interrupt_keeps_what_was_captured() -> None:
    assert len(of_kind(recording_of(stopped_by(KeyboardInterrupt())), EventKind.OP))


def stopped_by(error: BaseException) -> Capture:
    """A capture of a run that computes a product and then raises the error."""
    capture = Capture("fails()")

    def run() -> None:
        with capture.recording(), capture.step() as results:
            results.append(product(X).block_until_ready())
            raise error

    with pytest.raises(type(error)):
        run()
    return capture


def test_another_profiler_is_recognised_before_the_run(tmp_path: object) -> None:
    ran = []
    jax.profiler.start_trace(str(tmp_path))
    try:
        with pytest.raises(ProfilerBusy, match=r"jax\.profiler\.stop_trace") as busy, Capture("f()").recording():
            ran.append(1)
    finally:
        jax.profiler.stop_trace()
    assert not ran and "\n" not in str(busy.value)
    assert getattr(jax_profiler, "_profile_state", None) is not None, "the names that the check reads are JAX's"


def test_a_raw_session_is_recognised_before_the_run() -> None:
    session = profiler.start_session(python_tracer=False)
    try:
        with pytest.raises(ProfilerBusy, match="another profiler session"), Capture("f()").recording():
            raise AssertionError("it ran")
    finally:
        assert profiler.stop_session(session), "the other session was not harmed"


def test_a_second_capture_at_the_same_time_is_refused() -> None:
    with Capture("first()").recording(), pytest.raises(ProfilerBusy, match=r"first\(\)"):  # noqa: SIM117
        with Capture("second()").recording():
            raise AssertionError("it ran")


def test_a_session_that_began_meanwhile_is_an_error_in_one_line() -> None:
    """A second constructor does not fail; the first to stop does."""
    capture = Capture("f()")
    session = profiler.start_session(python_tracer=False)
    session_of = profiler.start_session
    try:
        profiler_state_runs = profiler.session_runs
        profiler.session_runs = lambda: False
        with pytest.raises(ProfilerBusy, match="began while") as busy, capture.recording():
            pass
        assert "\n" not in str(busy.value) and not capture.data
    finally:
        profiler.session_runs = profiler_state_runs
        profiler.stop_session(session)
    assert session_of is profiler.start_session


def test_no_events_is_a_recording() -> None:
    recording = captured(lambda: None, sample=False)
    assert not len(of_kind(recording, EventKind.OP))
    assert len(of_kind(recording, EventKind.STEP)) == 1


def test_the_limit_leaves_out_hidden_lanes_first_and_counts_what_it_leaves_out() -> None:
    whole = captured(lambda: product(X), steps=5)
    limited = captured(lambda: product(X), steps=5, limit=20)
    assert len(limited.events) == 20 < len(whole.events)
    [lost] = [lost for lost in limited.lost if lost.loss is Loss.CUT]
    assert lost.count == limited.total - 20
    assert not any(limited.lanes[lane].hidden for lane in limited.events.lane.tolist())


def test_python_is_traced_when_asked_for() -> None:
    def named_by_nobody_else() -> jax.Array:
        return product(X)

    untraced = captured(named_by_nobody_else, sample=False)
    assert not names(untraced, EventKind.PYTHON)
    assert any(
        "named_by_nobody_else" in n for n in names(captured(named_by_nobody_else, python=True), EventKind.PYTHON)
    )


def test_the_line_that_the_host_waits_in_is_sampled_on_the_clock_of_the_ops() -> None:
    """A thread lets the host go once it has been looked at there: nothing depends on how fast the machine is."""
    gate, capture = threading.Event(), Capture("waits()")

    def open_gate() -> None:
        while capture.samples is None or _nanoseconds_in("gate.wait()", capture.samples) < 50_000_000:
            time.sleep(0.001)
        gate.set()

    def waits() -> jax.Array:
        threading.Thread(target=open_gate).start()
        gate.wait()
        return product(X)

    with capture.recording(), capture.step() as results:
        results.append(waits())
    recording = recording_of(capture)
    sampled = of_kind(recording, EventKind.PYTHON)
    waiting = [i for i in sampled.tolist() if recording.names[recording.events.name[i]] == "gate.wait()"]
    assert recording.events.duration[waiting].sum() >= 50 * 10**9
    assert recording.events.start[waiting[0]] < recording.events.start[of_kind(recording, EventKind.OP)[0]]
    event = waiting[0]
    line = recording.host_lines[int(recording.events.name[event])]
    assert line.file == __file__ and line.function.endswith("waits")
    assert Path(line.file).read_text().split("\n")[line.line - 1].strip() == "gate.wait()"


def _nanoseconds_in(name: str, samples: Samples) -> int:
    known = [stretch for stretch in list(samples.stretches) if stretch.code is not None]
    return sum(s.end - s.start for s in known if s.code is not None and running(s.code, s.instruction)[0] == name)


def test_the_clock_that_the_user_gives_is_that_of_on_device_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Capture("x", CaptureOptions(sm_clock=1.5e9))
    with capture.recording():
        pass
    clocks: list[float | None] = []
    monkeypatch.setattr(
        captured_recording, "with_on_device", lambda read, on_device, clock: clocks.append(clock) or read
    )
    captured_recording.recording_of(capture)
    assert clocks == [1.5e9]
