"""The decoder beside JAX's own `ProfilerSpec.dump`, on the same buffers; at 1 GHz, a cycle is a nanosecond.

Where JAX's file is wrong: it takes cycles for nanoseconds at every clock; times wrap with the 32-bit timer and counter;
warpgroups of a block are all aligned at their first record; an unknown name or an exit without entry raises.
"""

from __future__ import annotations

import io
import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mosaic_buffers import TrueRange, TrueTrace, records_of, written

from jaxstage_ext.profiling.mosaic.mosaic_recording import FACTS, decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.report.recording import Loss

profiler = pytest.importorskip("jax.experimental.mosaic.gpu.profiler")

PROFILES = Path(__file__).parents[2] / "golden/profiles"
NAMES = ("load", "mma", "store")
GRID, BLOCK, ENTRIES = (3, 2, 1), (256, 1, 1), 128


def of_jax(words: Any, entries: int = ENTRIES, grid: Any = GRID, block: Any = BLOCK) -> tuple[Any, list[Any]]:
    """JAX's specification, and (lane, name, nanoseconds of begin and end) of each range in the file that JAX writes."""
    spec, file = profiler.ProfilerSpec(entries), io.StringIO()
    for name in NAMES:
        spec.intern_name(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.dump(words, file, grid, block)
    return spec, ranges_of(json.loads(file.getvalue())["traceEvents"])


def ranges_of(events: list[Any]) -> list[Any]:
    around: dict[int, list[Any]] = {}
    ranges = []
    for event in events:
        if event["ph"] == "B":
            around.setdefault(event["tid"], []).append(event)
        else:
            begin = around[event["tid"]].pop()
            assert begin["name"] == event["name"]
            ranges.append((event["tid"] - 1, event["name"], round(begin["ts"] * 1e3), round(event["ts"] * 1e3)))
    return sorted(ranges)


def random_ranges(rng: random.Random, at: int, depth: int = 0) -> tuple[tuple[TrueRange, ...], int]:
    ranges = []
    for _ in range(rng.randrange(0 if depth else 1, 4 if depth < 2 else 1)):
        begin = at + rng.choice((5, 13, 200, 10_000))
        inner, at = random_ranges(rng, begin, depth + 1)
        at += rng.choice((7, 30, 4_000, 10**6))
        ranges.append(TrueRange(rng.randrange(3), begin, at, inner))
    return tuple(ranges), at


def random_trace(rng: random.Random) -> TrueTrace:
    while True:
        ranges, _ = random_ranges(rng, rng.choice((0, 2**32 - 10_000, rng.randrange(2**32))))
        if 2 * len(records_of(ranges)) <= ENTRIES - 3:
            return TrueTrace(rng.randrange(2**31), rng.randrange(132), ranges)


@pytest.mark.parametrize("seed", range(40))
def test_ranges_are_those_of_jax_at_one_gigahertz(seed: int) -> None:
    rng = random.Random(seed)
    traces = [random_trace(rng) for _ in range(12)]
    words = written(traces, ENTRIES)
    jax_spec, expected = of_jax(words)
    made = decode(words, MosaicSpec.of_jax(jax_spec, GRID, BLOCK), sm_clock=1e9)
    got, begins = [], {}
    for event in range(len(made.events)):
        details = made.details(event)
        trace = details["block"] * 2 + details["warpgroup"]
        begin, end = int(made.events.start[event]) // 1_000, int(made.events.end[event]) // 1_000
        first = begins.setdefault(trace, begin)  # JAX aligns each warpgroup at its first record, we the block
        at = traces[trace].timer - first
        got.append((trace, made.names[made.events.name[event]], at + begin, at + end))
    assert sorted(got) == expected and made.lost == ()


def one(*words: int) -> Any:
    return np.array([0, 1, len(words), *words, *[0] * (13 - len(words))], np.uint32)


def ours(words: Any) -> Any:
    return decode(words, MosaicSpec(16, NAMES, (1, 1, 1), (128, 1, 1)), sm_clock=1e9)


@pytest.mark.parametrize(
    ("words", "error", "loss"),
    [
        (one(9, 100, 9 + 2**31, 200), KeyError, Loss.UNKNOWN_NAME),
        (np.array([0, 1, 14, *[0] * 13], np.uint32), RuntimeError, Loss.OVERFULL),
    ],
    ids=["unknown name", "overfull"],
)
def test_what_jax_raises_for_is_shown_with_what_is_lost(words: Any, error: type[Exception], loss: Loss) -> None:
    with pytest.raises(error):
        of_jax(words, 16, (1, 1, 1), (128, 1, 1))
    made = ours(words)
    assert loss in [lost.loss for lost in made.lost] and len(made.events)


def test_the_timer_of_jax_wraps_where_ours_does_not() -> None:
    """A range that begins 100 ns before the 32-bit timer wraps: JAX's file has it end before it begins."""
    words = written([TrueTrace(2**32 - 100, 1, (TrueRange(0, 0, 300),))], 16)
    _, [(_, _, begin, end)] = of_jax(words, 16, (1, 1, 1), (128, 1, 1))
    assert end < begin
    assert ours(words).events.duration.tolist() == [(300 - ours(words).device_facts[FACTS]["overhead_cycles"]) * 1_000]


def test_what_an_h200_recorded_has_the_ranges_of_the_file_that_jax_wrote_there() -> None:
    """The kernel of `mosaic_kernels.py`, run with JAX 0.11.2 on an H200; the file is of the first of its three runs."""
    with np.load(PROFILES / "h200_mosaic_buffer.npz") as recorded:
        runs, grid, block = recorded["words"], tuple(recorded["grid"].tolist()), tuple(recorded["block"].tolist())
        spec = MosaicSpec(int(recorded["entries"]), tuple(recorded["names"].tolist()), grid, block)
    recording = decode(runs[0], spec, 1e9)
    events = recording.events
    lanes = {lane: number for number, lane in enumerate(np.unique(events.lane).tolist())}
    durations = sorted(
        (lanes[lane], recording.names[name], duration // 1_000)
        for lane, name, duration in zip(
            events.lane.tolist(), events.name.tolist(), events.duration.tolist(), strict=True
        )
    )
    written = json.loads((PROFILES / "h200_scale-1795691503693831680-trace.json").read_text())["traceEvents"]
    assert durations == sorted((lane, name, end - begin) for lane, name, begin, end in ranges_of(written))
    assert [lane.group for lane in recording.lanes] == ["SM 124", "SM 126"]
    assert not recording.lost
    assert all(len(decode(words, spec, 1e9).events) == 8 for words in runs)
