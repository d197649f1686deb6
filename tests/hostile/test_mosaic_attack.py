"""Mosaic GPU profiles that are random, mutated or cut: a recording whose figures hold, or one line that says why."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from attack import Attack
from mosaic_buffers import TrueRange, TrueTrace, written

from jaxstage_ext.profiling.mosaic import mosaic_saved
from jaxstage_ext.profiling.mosaic.mosaic_recording import decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import BufferLayout, MosaicSpec, TraceScope
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import Recording

NAMES = ("load", "mma", "<script>alert(1)</script>")
ENTRIES, BLOCKS, TRACES = 32, 3, 2
SPEC = MosaicSpec(ENTRIES, NAMES, (BLOCKS,), (128 * TRACES,), kernel="k")
WHOLE = written(
    [
        TrueTrace(
            2**32 - 500 + 100 * n, n // 2, (TrueRange(n % 3, 0, 900, (TrueRange(0, 10, 20), TrueRange(1, 30, 800))),)
        )
        for n in range(BLOCKS * TRACES)
    ],
    ENTRIES,
)
FILE = mosaic_saved.saved(WHOLE, SPEC, 1.98e9)


def check(made: Recording) -> str:
    """What holds of any recording. Its outcome, in a word."""
    events = made.events
    assert np.all(events.duration >= 0) and np.all(events.start >= 0)
    assert np.all(np.diff(events.lane) >= 0) and np.all((events.lane >= 0) & (events.lane < len(made.lanes)))
    assert np.all((events.name >= 0) & (events.name < len(made.names)))
    same = np.diff(events.lane) == 0
    assert np.all(np.diff(events.start)[same] >= 0)
    assert made.total >= len(events) and all(lost.count is None or lost.count > 0 for lost in made.lost)
    if len(events):
        assert made.details(len(events) - 1)
    return "with losses" if made.lost else "whole"


def attempt(words: Any, spec: MosaicSpec, clock: float | None) -> str:
    try:
        return check(decode(words, spec, clock))
    except UnreadableProfile as error:
        assert "\n" not in str(error)
        return "refused"


def drawn(rng: random.Random) -> MosaicSpec:
    """A specification that fits most of the time, and sometimes does not."""
    return MosaicSpec(
        rng.choice((ENTRIES, ENTRIES, ENTRIES, 16)),
        NAMES[: rng.randrange(4)],
        (BLOCKS,),
        (128 * rng.choice((TRACES, TRACES, TRACES, 4)),),
        TraceScope.WARPGROUP if rng.random() < 0.9 else TraceScope.WARP,
        layout=rng.choice((None, *BufferLayout)),
        bounds_check=rng.random() < 0.3,
    )


def mutated(rng: random.Random) -> Any:
    words = WHOLE.copy()
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(words))
        if rng.random() < 0.3:
            at -= at % ENTRIES - rng.randrange(3)
        words[at] = rng.choice(
            (0, 1, 3, 2**31, 2**32 - 1, rng.randrange(2**32), int(words[at]) ^ 1 << rng.randrange(32))
        )
    return words


def test_mutated_and_random_buffers(request: pytest.FixtureRequest) -> None:
    attack = Attack("Mosaic GPU buffers", attempts=10_000, in_ci=1_000, request=request)
    for rng in attack:
        words = mutated(rng)
        if rng.random() < 0.2:
            words = np.frombuffer(rng.randbytes(len(WHOLE) * 4), np.uint32)
        attack.ended(attempt(words, drawn(rng) if rng.random() < 0.8 else SPEC, rng.choice((None, 1.98e9))))


def test_what_was_not_touched_is_as_it_was(request: pytest.FixtureRequest) -> None:
    """One damaged block leaves the lanes of the others as they were, beside one another."""
    whole = decode(WHOLE, SPEC, 1e9, overhead=0)
    attack = Attack("blocks beside a damaged one", attempts=2_000, in_ci=300, request=request)
    for rng in attack:
        words = WHOLE.copy()
        size = ENTRIES * TRACES
        words[size : 2 * size] = np.frombuffer(rng.randbytes(4 * size), np.uint32)
        try:
            made = decode(words, MosaicSpec(ENTRIES, NAMES, (3,), (256,), layout=BufferLayout.RECORDS), 1e9, overhead=0)
        except UnreadableProfile:
            raise AssertionError("the layout is given") from None
        for lane in ("block 0, warpgroup 1", "block 2, warpgroup 0"):
            assert durations(made, lane) == durations(whole, lane)
        attack.ended(check(made))


def durations(made: Recording, lane: str) -> list[tuple[str, int]]:
    number = [each.name for each in made.lanes].index(lane)
    rows = np.flatnonzero(made.events.lane == number)
    return [(made.names[made.events.name[row]], int(made.events.duration[row])) for row in rows]


def test_mutated_files(request: pytest.FixtureRequest) -> None:
    attack = Attack("files of Mosaic GPU profiles", attempts=10_000, in_ci=1_000, request=request)
    for rng in attack:
        data = bytearray(FILE)
        for _ in range(rng.randrange(1, 5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.2:
            del data[rng.randrange(len(data)) :]
        try:
            attack.ended(check(mosaic_saved.read(bytes(data), "x.npz")))
        except UnreadableProfile as error:
            assert "\n" not in str(error), error
            attack.ended("refused")
