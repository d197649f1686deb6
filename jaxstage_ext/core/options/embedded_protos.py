"""Protobuf descriptors embedded in a shared library.

protoc writes the FileDescriptorProto of each file into the generated code as it is, so
messages can be decoded without loading the library.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2

_CHUNK = 1 << 22
_LARGEST = 1 << 20
_MESSAGE, _ENUM = 4, 5


def find(library: Path, files: Sequence[str]) -> dict[str, bytes]:
    """Bytes that begin with the FileDescriptorProto of each .proto file; files that the library lacks are left out."""
    needles = {b"\n" + bytes([len(file)]) + file.encode() + b"\x12": file for file in files}
    longest = max(map(len, needles))
    descriptors: dict[str, bytes] = {}
    with library.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for start in range(0, len(mapped), _CHUNK):
            chunk = mapped[start : start + _CHUNK + longest]
            for needle, file in needles.items():
                if file not in descriptors and (at := chunk.find(needle)) >= 0:
                    descriptors[file] = mapped[start + at : start + at + _LARGEST]
            if len(descriptors) == len(files):
                break
    return descriptors


def message(data: bytes, name: str) -> Any:
    """The DescriptorProto of a message in a file that `find` gave. Raises ValueError where there is none."""
    return _named(data, _MESSAGE, descriptor_pb2.DescriptorProto, name)


def enum(data: bytes, name: str) -> Any:
    """The EnumDescriptorProto of an enum in a file that `find` gave. Raises ValueError where there is none."""
    return _named(data, _ENUM, descriptor_pb2.EnumDescriptorProto, name)


def _named(data: bytes, number: int, kind: Any, name: str) -> Any:
    start = b"\n" + bytes([len(name)]) + name.encode()
    for field, payload in fields(data):
        if field == number and payload.startswith(start):
            return kind.FromString(payload)
    raise ValueError(f"no {name} among the embedded descriptors")


def fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, payload) of the leading length-delimited fields, up to the first thing that is not a field."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number == 0 or wire not in (0, 2):
            return
        size, at = _varint(data, at)
        if wire == 2:
            yield number, data[at : at + size]
            at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            break
    return value, at
