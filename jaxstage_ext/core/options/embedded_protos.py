"""Protobuf descriptors that a shared library carries: what its generated code was made from.

protoc writes each file's FileDescriptorProto into the code as it is, so its
messages can be read without loading or running anything.
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
    """Bytes that begin with the FileDescriptorProto of each .proto file; those that are not there are left out."""
    needles = {b"\n" + bytes([len(file)]) + file.encode() + b"\x12": file for file in files}
    longest = max(map(len, needles))
    found: dict[str, bytes] = {}
    with library.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for start in range(0, len(mapped), _CHUNK):
            chunk = mapped[start : start + _CHUNK + longest]
            for needle, file in needles.items():
                if file not in found and (at := chunk.find(needle)) >= 0:
                    found[file] = mapped[start + at : start + at + _LARGEST]
            if len(found) == len(files):
                break
    return found


def message(data: bytes, name: str) -> Any:
    """The DescriptorProto of a message in a file that `find` gave. Raises ValueError where there is none."""
    return _named(data, _MESSAGE, descriptor_pb2.DescriptorProto, name)


def enum(data: bytes, name: str) -> Any:
    """The EnumDescriptorProto of an enum in a file that `find` gave. Raises ValueError where there is none."""
    return _named(data, _ENUM, descriptor_pb2.EnumDescriptorProto, name)


def _named(data: bytes, number: int, kind: Any, name: str) -> Any:
    start = b"\n" + bytes([len(name)]) + name.encode()
    for found, payload in fields(data):
        if found == number and payload.startswith(start):
            return kind.FromString(payload)
    raise ValueError(f"no {name} among the embedded descriptors")


def fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, payload) of the leading length-delimited fields; other fields are passed over, noise ends it."""
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
