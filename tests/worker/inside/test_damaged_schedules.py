"""A schedule that XLA dumped and the disk damaged: refused as a cut dump, so that the compile itself goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxstage_ext.worker.inside import schedule_dump
from jaxstage_ext.worker.inside.dump_room import DumpCut

WHOLE = b"\x0a\x03\x0a\x01m" + b"\x12\x02\x08\x07"
"""A module called m, and the schedule of its computation 7. https://protobuf.dev/programming-guides/encoding/"""


def read(folder: Path, data: bytes) -> bytes | None:
    (folder / "jit_step.schedule.pb").write_bytes(data)
    packed: bytes | None = schedule_dump.read(folder, "jit_step", "")["schedule"]
    return packed


def test_what_is_whole_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, WHOLE)


@pytest.mark.parametrize(
    "inside",
    [b"\x0a\x7f", b"\x0a", b"\x08" + b"\xff" * 1000 + b"\x01"],
    ids=["longer than what holds it", "ends before its size", "a number of 7,000 bits"],
)
def test_what_is_damaged_inside_is_a_cut_dump(tmp_path: Path, inside: bytes) -> None:
    for part in (b"\x0a", b"\x12"):
        size = len(inside)
        field = part + bytes([size & 0x7F | 0x80, size >> 7]) + inside
        with pytest.raises(DumpCut):
            read(tmp_path, WHOLE + field)
