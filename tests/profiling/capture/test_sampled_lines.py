"""What the sampled places of Python code are called."""

from __future__ import annotations

import dis
import itertools
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.profiling.capture import sampler
from jaxstage_ext.profiling.capture.captured_recording import compile_lane, running, sampled_lane
from jaxstage_ext.profiling.capture.compile_times import CompileTime
from jaxstage_ext.profiling.capture.sampler import Samples, Stretch, _stack_of, place_of, sampled


def loop(batches: list[int], step: Callable[[int], int]) -> None:
    for batch in reversed(batches):
        total = step(batch) + 1
        print(total)


def at(opcode: str, line: int) -> tuple[str, Any]:
    """The name of the first instruction of that opcode in a line of `loop`, counted from its `def`."""
    code: types.CodeType = loop.__code__
    first = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if opcode in instruction.opname and instruction.positions and instruction.positions.lineno == first + line:
            return running(code, instruction.offset)
    raise AssertionError(opcode)


def test_a_call_is_called_by_its_own_text() -> None:
    name, line = at("CALL", 2)
    assert name == "step(batch)"
    assert (line.file, line.function, line.code) == (__file__, "loop", "step(batch)")


def test_a_loop_that_waits_for_its_next_value_is_called_by_its_line() -> None:
    """Not by the call of `reversed`, which was over long ago."""
    assert at("FOR_ITER", 1)[0] == "for batch in reversed(batches)"
    assert at("CALL", 1)[0] == "reversed(batches)"


def test_a_place_that_is_unknown_to_python_is_the_line_of_the_function() -> None:
    name, line = running(loop.__code__, 10**6)
    assert name == "def loop(batches: list[int], step: Callable[[int], int]) -> None"
    assert line.line == loop.__code__.co_firstlineno


def test_code_without_source_is_called_by_its_name() -> None:
    space: dict[str, Any] = {}
    exec(compile("def nowhere(): pass", "<nowhere>", "exec"), space)
    assert running(space["nowhere"].__code__, 0)[0] == "nowhere"


def test_stretches_without_user_code_are_left_out() -> None:
    code = loop.__code__
    lane = sampled_lane(Samples([Stretch(10, 20, code, 0), Stretch(20, 30, None, -1), Stretch(30, 31, code, 0)]))
    assert (lane.start.tolist(), lane.end.tolist(), lane.name.tolist()) == ([10, 30], [20, 31], [0, 0])
    assert len(lane.names) == 1 and list(lane.host_lines) == [0]


def test_the_innermost_line_of_the_user_counts_and_nothing_outside_this_package() -> None:
    code, instruction = place_of(sys._getframe())
    assert code is not None and code.co_name.startswith("test_the_innermost") and instruction >= 0
    assert np.vectorize(lambda _: place_of(sys._getframe())[0].co_name)([0]).tolist() == ["<lambda>"]  # type: ignore[union-attr]
    assert place_of(None) == (None, -1)


def test_sampling_ends_with_its_block_and_its_thread_too() -> None:
    with sampled(0.0001) as samples:
        while not any(stretch.code is not None for stretch in list(samples.stretches)):
            pass
    assert not any(thread.name == "jaxstage sampler" for thread in threading.enumerate())
    assert all(a.end <= b.start for a, b in zip(samples.stretches, samples.stretches[1:], strict=False))
    assert samples.start <= samples.stretches[0].start and samples.looks >= len(samples.stretches)


def test_a_gap_in_which_nobody_could_look_is_not_bridged() -> None:
    """The thread holds Python's lock for longer than the sampler's patience: 50 ms of one C call."""
    import ctypes

    library = ctypes.PyDLL(None)
    with sampled(0.001) as samples:
        while samples.looks < 3:
            time.sleep(0.001)
        library.usleep(50_000)  # PyDLL keeps the lock
        before = samples.looks
        while samples.looks < before + 3:
            time.sleep(0.001)
    stretches = samples.stretches
    gaps = [later.start - earlier.end for earlier, later in itertools.pairwise(stretches)]
    assert max(gaps) > 30_000_000, "no stretch reaches over it"
    assert sum(gaps) == samples.unknown


def is_waiting(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename == threading.__file__ and place_of(frame)[0] is not None


@pytest.mark.parametrize(("computed", "is_known"), [(1_000, True), (60_000_000, False), (None, False)])
def test_a_gap_in_which_the_thread_waited_at_one_place_is_bridged(
    computed: int | None, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looked for 100 ms, and the thread stands where it stood: it was there if it has computed nothing."""
    done = threading.Event()
    thread = threading.Thread(target=lambda: done.wait())
    thread.start()
    while not is_waiting(sys._current_frames().get(thread.ident or 0)):
        pass
    at, times = [0], [0]
    monkeypatch.setattr(sampler.time, "time_ns", lambda: at[0])
    monkeypatch.setattr(sampler.time, "clock_gettime_ns", lambda clock: times[0])
    samples = Samples()
    looks = sampler._Looks(samples, thread.ident or 0, None if computed is None else 7, 0.001)
    looks._look()
    at[0], times[0] = 100_000_000, computed or 0
    looks._look()
    done.set()
    thread.join()
    assert samples.unknown == (0 if is_known else 99_000_000)
    assert len(samples.stretches) == (1 if is_known else 2)


def test_the_clock_of_a_thread_counts_what_it_computes_and_not_what_it_waits() -> None:
    clock = sampler._own_clock()
    if clock is None:
        pytest.skip("this platform has no clock of a thread")
    before = time.clock_gettime_ns(clock)
    time.sleep(0.02)
    rested = time.clock_gettime_ns(clock) - before
    while time.clock_gettime_ns(clock) - before < 20_000_000:
        pass
    assert rested < 10_000_000


def test_compiles_are_named_by_stage_and_function() -> None:
    lane = compile_lane([CompileTime("trace", "f", 1, 2), CompileTime("compile", "jit(f)", 3, 9)])
    assert [lane.names[i] for i in lane.name.tolist()] == ["trace f", "compile jit(f)"]


def test_what_asks_a_generator_stands_around_its_lines() -> None:
    """Not so of an ordinary function: only its own line counts."""

    def numbers() -> Iterator[FrameType]:
        yield sys._getframe()

    frames = []
    for frame in numbers():
        frames.append(_stack_of(frame))
    inner, _, asker, _ = frames[0]
    assert inner is not None and inner.co_name == "numbers" and asker is None, "it is suspended, so nothing asks it"

    def looking() -> Iterator[tuple[object, ...]]:
        yield _stack_of(sys._getframe())

    code, instruction, asker, asked_at = next(looking())
    assert code is not None and code.co_name == "looking"
    assert asker is not None and asker.co_name.startswith("test_what_asks")
    lane = sampled_lane(Samples([Stretch(10, 20, code, instruction, asker, asked_at)]))
    assert (lane.start.tolist(), lane.end.tolist()) == ([10, 10], [20, 20])
    assert lane.names[lane.name[0]] == "next(looking())"
    assert _stack_of(sys._getframe())[2] is None
