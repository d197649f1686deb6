"""Opening what is not a profile ends: pipes, devices, sparse files, and profiles of a million parts without content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jaxstage_ext import load
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.profiling.xplane.xplane_wire import MOST_LINES, MOST_PLANES
from tests.helpers.big_profiles import delimited

EMPTY_PLANE = delimited(1, b"")
EMPTY_LINE = delimited(3, b"")


@pytest.mark.timeout(20)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "h.xplane.pb"
    os.mkfifo(pipe)
    for source in (pipe, tmp_path):
        with pytest.raises(UnreadableProfile, match="not a file but a pipe"):
            load(source)


@pytest.mark.timeout(20)
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_device_without_an_end_is_not_read() -> None:
    with pytest.raises(UnreadableProfile, match="a device"):
        load("/dev/zero")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = tmp_path / "large.json"
    large.write_bytes(b'{"traceEvents": [')
    os.truncate(large, 2**31)
    reads: list[str] = []
    monkeypatch.setattr("jaxstage_ext.profiling.opening._read", lambda data, title: reads.append(title))
    with pytest.raises(UnreadableProfile, match=r"large\.json has 2\.15 GB; 1\.07 GB is the most"):
        load(large)
    assert reads == []


@pytest.mark.timeout(20)
def test_a_million_empty_planes_are_refused() -> None:
    assert MOST_PLANES < 1_000_000
    with pytest.raises(UnreadableProfile, match="1,000,000 planes"):
        xplane.read(EMPTY_PLANE * 1_000_000, "planes")


@pytest.mark.timeout(20)
def test_a_plane_of_a_million_lines_is_left_out_and_named() -> None:
    assert MOST_LINES < 1_000_000
    named = delimited(2, b"/host:CPU")
    made = delimited(1, named) + delimited(1, named + EMPTY_LINE * 1_000_000)
    assert any("100,000 lines" in str(lost.where) for lost in xplane.read(made, "lines").lost)
