"""The schedule that XLA's latency-hiding scheduler dumps, cut to what says which instruction runs when.

The standard library alone: it runs in the worker. `ir.schedules.written_schedule` reads what this packs, and the whole
dump as well.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jaxstage_ext.worker.inside import whole_files
from jaxstage_ext.worker.inside.dump_room import DumpCut

FLAGS = {"xla_dump_hlo_as_proto": True, "xla_dump_latency_hiding_schedule": True}
LARGEST = 256 << 20
"""Bytes of a dump above which it is not read."""
_SUFFIX = ".schedule.pb"
_MODULE, _SCHEDULES = 1, 2
"""Fields of a ScheduleProto."""
_COMPUTATION_ID = 1
"""Of the schedule of a computation."""
_MODULE_NAME, _COMPUTATIONS = 1, 3
_NAME, _INSTRUCTIONS, _ID = 1, 2, 5
"""Of a computation."""
_INSTRUCTION = frozenset({1, 2, 3, 35, 36})
"""Of an instruction: name, opcode, shape, id, operands."""
_ESTIMATOR = re.compile(
    r"^.*(?:latency estimator|(?:Collective|Matmul) interpolator unavailable|not implemented\. Returning only).*$",
    re.MULTILINE,
)
_MOST_LOG = 4000
_LONGEST_SHIFT = 56
"""Bits before the last byte but one of a number."""


def read(folder: Path, module: str | None, log: str) -> dict[str, Any]:
    """The schedule among the files of one compile, that of `module` if there are several.

    {"schedule": a ScheduleProto, deflated, or None; "bytes": those of the file, 0 without one; "log": what XLA logged
    about how it estimates}. Raises DumpCut where the file is not whole.
    """
    files = sorted(folder.glob(f"*{_SUFFIX}"))
    if module and len(files) > 1:
        files = [path for path in files if path.name.endswith(f"{module}{_SUFFIX}")] or files
    about = "\n".join(match[0] for match in _ESTIMATOR.finditer(log))[:_MOST_LOG]
    if not files:
        return {"schedule": None, "bytes": 0, "log": about}
    path = max(files, key=lambda file: file.stat().st_size)
    size = path.stat().st_size
    if size > LARGEST:
        return {"schedule": None, "bytes": size, "log": about}
    data = whole_files.check_proto(path.read_bytes(), path, _MODULE, _SCHEDULES)
    try:
        short = shortened(data)
    except IndexError:
        raise DumpCut(f"XLA dumped a schedule that is damaged: {path.name}") from None
    return {"schedule": zlib.compress(short, 1), "bytes": size, "log": about}


class _Found(NamedTuple):
    """A field: its number, its value or 0, where it begins, where its content begins, where it ends."""

    number: int
    value: int
    start: int
    content: int
    end: int


def shortened(data: bytes) -> bytes:
    """The schedule without what of the module in it names no scheduled instruction. Raises IndexError for damage."""
    top = list(_fields(data, 0, len(data)))
    scheduled = {
        inner.value
        for one in top
        if one.number == _SCHEDULES
        for inner in _fields(data, one.content, one.end)
        if inner.number == _COMPUTATION_ID
    }
    module = b"".join(_module(data, one, scheduled) for one in top if one.number == _MODULE)
    rest = b"".join(data[one.start : one.end] for one in top if one.number != _MODULE)
    return _delimited(_MODULE, module) + rest


def _module(data: bytes, module: _Found, scheduled: set[int]) -> bytes:
    parts = []
    for one in _fields(data, module.content, module.end):
        if one.number == _MODULE_NAME:
            parts.append(data[one.start : one.end])
        elif one.number == _COMPUTATIONS:
            fields = list(_fields(data, one.content, one.end))
            if scheduled.intersection(field.value for field in fields if field.number == _ID):
                parts.append(_delimited(_COMPUTATIONS, b"".join(_computation(data, fields))))
    return b"".join(parts)


def _computation(data: bytes, fields: list[_Found]) -> Iterator[bytes]:
    for one in fields:
        if one.number in (_NAME, _ID):
            yield data[one.start : one.end]
        elif one.number == _INSTRUCTIONS:
            inner = _fields(data, one.content, one.end)
            kept = b"".join(data[field.start : field.end] for field in inner if field.number in _INSTRUCTION)
            yield _delimited(_INSTRUCTIONS, kept)


def _fields(data: bytes, at: int, end: int) -> Iterator[_Found]:
    """The fields of a message. Wire format: https://protobuf.dev/programming-guides/encoding/"""
    while at < end:
        start, value = at, 0
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire in (0, 2):
            value, at = _varint(data, at)
        content = at
        at += value if wire == 2 else {1: 8, 5: 4}.get(wire, 0)
        if at > end:
            raise IndexError("a field is longer than what holds it")
        yield _Found(tag >> 3, 0 if wire == 2 else value, start, content, at)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := data[at]) >= 0x80:
        if shift > _LONGEST_SHIFT:
            raise IndexError("a number is longer than 64 bits")
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | byte << shift, at + 1


def _delimited(number: int, content: bytes) -> bytes:
    size, head = len(content), bytearray([number << 3 | 2])
    while size >= 0x80:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    return bytes(head) + content
