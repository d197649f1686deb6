"""The public way of an on-device profile: JAX's own ProfilerSpec and a buffer, a panel, files that are read back.

What a buffer lost is known from JAX: its dump raises RuntimeError for too little space, and warns of a clock that goes
back.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mosaic_buffers import TrueRange, TrueTrace, written

import jaxstage_ext
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.profiling.mosaic import mosaic_wording
from jaxstage_ext.profiling.mosaic.mosaic_kernels import KernelClock
from jaxstage_ext.profiling.mosaic.mosaic_recording import FACTS
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import Loss
from jaxstage_ext.report.unavailable import Unavailable

profiler = pytest.importorskip("jax.experimental.mosaic.gpu.profiler")

LAUNCH: dict[str, Any] = {"grid": (2, 1, 1), "block": (128, 1, 1)}
TRACES = [
    TrueTrace(100, 4, (TrueRange(0, 1_000, 3_000, (TrueRange(1, 1_200, 1_300),)),)),
    TrueTrace(120, 5, (TrueRange(0, 1_000, 3_000),)),
]
WORDS = written(TRACES, 16)


def spec(entries: int = 16) -> Any:
    made = profiler.ProfilerSpec(entries)
    for name in ("load", "mma"):
        made.intern_name(name)
    return made


def test_jax_s_own_specification_and_a_buffer_are_enough() -> None:
    alone = jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), 1e9)
    assert [(lane.group, lane.name) for lane in alone.recording.lanes] == [
        ("SM 4", "warpgroup 0"),
        ("SM 5", "warpgroup 1"),
    ]
    assert list(alone.by_range()["range"]) == ["load", "mma"] and list(alone.by_range()["count"]) == [2, 1]
    assert any("grid= and block=" in note for note in mosaic_wording.notes(alone.recording))
    launched = jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), 1e9, **LAUNCH, kernel="scale")
    assert [lane.name for lane in launched.recording.lanes] == ["block 0, warpgroup 0", "block 1, warpgroup 0"]
    assert np.array_equal(launched.events.start, alone.events.start)
    assert not any("grid=" in note for note in mosaic_wording.notes(launched.recording))


def test_it_is_a_panel_a_page_and_a_picture(tmp_path: Path) -> None:
    timeline: Any = jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), 1e9)
    data = timeline._repr_mimebundle_()
    assert "text/html" in data and "load" in data["text/plain"]
    timeline.to_html(tmp_path / "page.html")
    timeline.to_svg(tmp_path / "lanes.svg")
    assert "warpgroup 0" in (tmp_path / "lanes.svg").read_text()


@pytest.mark.parametrize("clock", [None, 1.98e9])
@pytest.mark.parametrize("launch", [LAUNCH, {}])
def test_the_words_are_written_and_read_back(tmp_path: Path, clock: float | None, launch: dict[str, Any]) -> None:
    made = jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), clock, **launch)
    made.to_npz(tmp_path / "kernel.npz")
    opened: Any = jaxstage_ext.load(tmp_path / "kernel.npz")
    assert str(opened) == str(made)
    assert np.array_equal(opened.events.start, made.events.start)
    opened.to_npz(tmp_path / "copy.npz")
    assert str(jaxstage_ext.load(tmp_path / "copy.npz")) == str(made)


def test_only_words_are_written_as_npz(tmp_path: Path) -> None:
    made = jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), 1e9)
    with pytest.raises(Unavailable, match=r"to_chrome\(path\) writes any timeline"):
        made.between(0, 1e-6).to_npz(tmp_path / "part.npz")


def test_the_detour_by_a_chrome_trace_says_the_same(tmp_path: Path) -> None:
    """A clock that is no whole number: the digits of a float in the file are a number again."""
    made = jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), 1.98e9 + 0.5, **LAUNCH)
    made.to_chrome(tmp_path / "kernel.json")
    opened: Any = jaxstage_ext.load(tmp_path / "kernel.json")
    assert mosaic_wording.notes(opened.recording) == mosaic_wording.notes(made.recording)
    assert opened.recording.device_facts[FACTS]["sm_clock_hz"] == 1.98e9 + 0.5
    opened.to_html(tmp_path / "page.html")


def test_how_a_kernel_was_placed_is_read_back_too() -> None:
    facts = {"kernel": "scale", "sm_clock_hz": 1e9, "overhead_cycles": 3, "most_overhead_cycles": 9, "scope": "warp"}
    made = jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), 1e9).recording
    for clock in (KernelClock.APART, str(KernelClock.APART)):
        made.device_facts[FACTS].clear()  # type: ignore[attr-defined]
        made.device_facts[FACTS].update(facts, clock=clock)  # type: ignore[attr-defined]
        assert "on a clock of their own" in mosaic_wording.notes(made)[-1]
    made.device_facts[FACTS].update(clock=3, sm_clock_hz="fast", overhead_cycles=None)  # type: ignore[attr-defined]
    assert mosaic_wording.notes(made) == (), "a file that someone changed says nothing, and raises nothing"


def overfull() -> Any:
    """Three ranges in a trace with room for two; JAX's own dump refuses it."""
    ranges = tuple(TrueRange(0, 1_000 * at, 1_000 * at + 500) for at in range(1, 4))
    return written([TrueTrace(100, 4, ranges)], 11)


def backwards() -> Any:
    return written([TrueTrace(100, 4, (TrueRange(0, 5_000, 4_000),))], 11)


@pytest.mark.parametrize(("words", "loss"), [(overfull(), Loss.OVERFULL), (backwards(), Loss.BACKWARDS)])
def test_what_is_lost_is_said_in_every_form(words: Any, loss: Loss, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            spec(11).dump(words, io.StringIO(), (1, 1, 1), (128, 1, 1))
        except RuntimeError as error:
            assert "Insufficient space" in str(error)
        else:
            assert loss is Loss.BACKWARDS
            del warned[:]
    timeline: Any = jaxstage_ext.Timeline.from_mosaic(words, spec(11), 1e9)
    timeline.to_npz(tmp_path / "a.npz")
    timeline.to_chrome(tmp_path / "a.json")
    forms = [timeline, jaxstage_ext.load(tmp_path / "a.npz"), jaxstage_ext.load(tmp_path / "a.json")]
    for form in forms:
        assert loss.value in str(form) and loss.value in repr(form) and loss.value in str(form.by_range())
    assert loss.value in timeline._repr_mimebundle_()["text/html"]


def test_what_does_not_say_how_it_was_recorded_is_refused_in_one_line() -> None:
    with pytest.raises(TypeError, match="spec is an int; give the ProfilerSpec"):
        jaxstage_ext.Timeline.from_mosaic(WORDS, 3)
    with pytest.raises(TypeError, match="give both, or neither"):
        jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), grid=(2, 1, 1))
    with pytest.raises(UnreadableProfile, match="31 words, which are not whole traces of 16 words"):
        jaxstage_ext.Timeline.from_mosaic(WORDS[:-1], spec())


def test_below_the_lanes_stand_the_ranges_and_no_empty_tables() -> None:
    timeline: Any = jaxstage_ext.Timeline.from_mosaic(WORDS, spec(), 1e9)
    head: dict[str, Any] = {"pending": 1}
    while "pending" in head:
        head, _ = dispatch.answer([timeline.program], "timeline head", {"call": 0})
    assert head["tables"] == ["ranges"]
    table: dict[str, Any] = {"pending": 1}
    while "pending" in table:
        table, _ = dispatch.answer([timeline.program], "timeline table", {"call": 0, "table": "ranges"})
    assert table["strings"]["range"] == ["load", "mma"]
    titled = [field["name"] for field in table["columns"] if field.get("title")]
    assert titled == ["range", "share", "self", "total", "count", "lanes"]
