"""A file that is no xplane profile, or a damaged one, is an error that says what is wrong, or what is left of it."""

from __future__ import annotations

import pytest

from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.recording import Loss
from tests.helpers.profiles import trace_bytes


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"\x1f\x8b\x08\x00", b"\n\x00", b"\x0a\x05ab", bytes(1000), b"HloModule jit_f", b"\xff" * 99]
)
def test_a_foreign_file(data: bytes) -> None:
    with pytest.raises(UnreadableProfile, match=r"file\.txt is not an xplane profile: "):
        xplane.read(data, "file.txt")


def test_a_file_that_a_text_conversion_damaged() -> None:
    with pytest.raises(UnreadableProfile, match="the field at byte 0 runs past the end"):
        xplane.read(trace_bytes("CORRUPT_tpu.xplane.pb"), "CORRUPT_tpu.xplane.pb")


def test_what_is_whole_of_a_truncated_file_is_shown() -> None:
    data = trace_bytes("amd_mi300x_jax08_conv.xplane.pb")
    recording = xplane.read(data[: len(data) - 5000], "cut")
    assert len(recording.events)
    assert [lost.loss for lost in recording.lost] == [Loss.UNREADABLE]
    assert recording.lost[0].count is None
    assert "cut or damaged at byte" in recording.lost[0].where
