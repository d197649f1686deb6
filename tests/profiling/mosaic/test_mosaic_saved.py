"""Mosaic GPU profiles in files, and through the public Timeline."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from mosaic_buffers import TrueRange, TrueTrace, written

from jaxstage_ext.profiling.mosaic import mosaic_saved
from jaxstage_ext.profiling.mosaic.mosaic_recording import decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import BufferLayout, MosaicSpec, TraceScope
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import TimeUnit

WORDS = written([TrueTrace(100, 4, (TrueRange(0, 1_000, 3_000),))], 16)
SPEC = MosaicSpec(16, ("load <b>", "\N{GREEK SMALL LETTER MU}"), (1, 1, 1), (128, 1, 1), kernel="scale")


@pytest.mark.parametrize("clock", [None, 1.98e9])
@pytest.mark.parametrize("layout", [None, BufferLayout.RECORDS])
def test_a_saved_profile_is_read_as_it_was(clock: float | None, layout: BufferLayout | None) -> None:
    spec = replace(SPEC, layout=layout, bounds_check=True)
    made, direct = mosaic_saved.read(mosaic_saved.saved(WORDS, spec, clock), "x.npz"), decode(WORDS, spec, clock)
    assert made.title == direct.title and made.names == direct.names and made.lanes == direct.lanes
    assert np.array_equal(made.events.start, direct.events.start) and made.device_facts == direct.device_facts
    assert np.array_equal(made.events.duration, direct.events.duration) and made.unit is direct.unit


def test_a_profile_of_warps() -> None:
    spec = replace(SPEC, block=(32,), scope=TraceScope.WARP)
    assert mosaic_saved.read(mosaic_saved.saved(WORDS, spec), "x").lanes[0].name == "block 0, warp 0"


def test_words_alone_are_not_enough() -> None:
    file = io.BytesIO()
    np.save(file, WORDS)
    assert mosaic_saved.is_numpy(file.getvalue())
    with pytest.raises(UnreadableProfile, match=r"has words alone.*Timeline.from_mosaic\(numpy.load\(file\), spec"):
        mosaic_saved.read(file.getvalue(), "x.npy")


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\x03\x04", zipped(), zipped(mosaic_gpu_words=b"", mosaic_gpu_spec=b""), zipped(a=b"1")],
    ids=["empty", "head", "nothing", "no arrays", "others"],
)
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableProfile, match=r"x\.npz is not a Mosaic GPU profile"):
        mosaic_saved.read(data, "x.npz")


def test_a_buffer_that_cannot_be_decoded_is_not_saved() -> None:
    with pytest.raises(UnreadableProfile):
        mosaic_saved.saved(WORDS[:5], SPEC)


def test_pickles_are_not_loaded() -> None:
    file = io.BytesIO()
    np.savez(file, mosaic_gpu_words=np.array([print], object), mosaic_gpu_spec=np.zeros(1, np.uint8))
    with pytest.raises(UnreadableProfile, match="allow_pickle"):
        mosaic_saved.read(file.getvalue(), "x.npz")


def test_the_public_timeline_of_a_buffer() -> None:
    timeline = Timeline.from_mosaic(WORDS, SPEC, sm_clock=1e9)
    assert timeline.events.duration.tolist() == [(2_000 - 11) * 1_000]
    assert Timeline.from_mosaic(WORDS, SPEC).recording.unit is TimeUnit.CYCLE
    assert "SM clock of 1 GHz" in str(timeline) and "load" in str(timeline)


def test_the_specification_of_jax() -> None:
    profiler = pytest.importorskip("jax.experimental.mosaic.gpu.profiler")
    spec = profiler.ProfilerSpec(64)
    for name in ("a", "b", "a"):
        spec.intern_name(name)
    assert MosaicSpec.of_jax(spec, (2, 1, 1), (256, 1, 1), "k") == MosaicSpec(
        64, ("a", "b"), (2, 1, 1), (256, 1, 1), TraceScope.WARPGROUP, "k", BufferLayout.RECORDS
    )
