"""Protobuf descriptors embedded in a shared library.

protoc writes the FileDescriptorProto of each file into the generated code as it is, so
messages can be decoded without loading the library.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2

from jaxstage_ext.ir.wire import protowire

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
    for field, payload in protowire.leading_fields(data):
        if field == number and payload.startswith(start):
            return kind.FromString(payload)
    raise ValueError(f"no {name} among the embedded descriptors")
