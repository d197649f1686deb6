"""Whether a file that XLA dumped is whole, by what its format says of its end. Runs in the worker: stdlib alone."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from jaxstage_ext.worker.inside.dump_room import DumpCut

_TAIL = 64
_BLOCK = 512
"""Bytes of the smallest blocks of disks: a file of fewer is whole or empty, and may have a head alone."""
_STRING = re.compile(rb'"[^"\n]*"')
_NODE, _NODE_USED = re.compile(rb"^!(\d+) = ", re.MULTILINE), re.compile(rb"!(\d+)")
_GROUP, _GROUP_USED = re.compile(rb"^attributes #(\d+) = ", re.MULTILINE), re.compile(rb" #(\d+)")
_DEFINES, _THUNK, _NEXT = (re.compile(of, re.MULTILINE) for of in (rb"^(?:define |@)", rb"^ *(\d+): k", rb"next=(\d+)"))
_ENTRY = re.compile(rb"^(?:\.visible )?\.entry\s+([\w$.]+)", re.MULTILINE)
_KERNEL = re.compile(rb'^define [^@\n]*\bptx_kernel\b[^@\n]*@"?([\w$.]+)"?\(', re.MULTILINE)
_ELF = b"\x7fELF\x02\x01"


def is_whole_module(path: Path) -> bool:
    """Whether a file holds the text of a module from its head to the end of its entry, which XLA prints last."""
    with open(path, "rb") as file:
        head = file.read(10)
        file.seek(max(0, path.stat().st_size - _TAIL))
        return head == b"HloModule " and file.read().endswith(b"\n}\n\n")


def check_proto(data: bytes, path: Path, *required: int) -> bytes:
    """The bytes of a serialised message. Raises DumpCut unless its fields fill it, with those of these numbers."""
    try:
        numbers = set(_fields(data))
    except IndexError:
        numbers = set()
    if not numbers.issuperset(required):
        raise _cut(path)
    return data


def check_lines(path: Path) -> None:
    """Raise DumpCut unless a file of text ends with a whole line."""
    if not path.read_bytes().endswith(b"\n"):
        raise _cut(path)


def check_code(folder: Path) -> None:
    """Raise DumpCut unless every file of machine code in a folder is whole, and all are there."""
    for name in cut_code(folder):
        raise _cut(folder / name)
    entries, kernels = (set(_found(folder, *what)) for what in ((".ptx", _ENTRY), (".ir-with-opt.ll", _KERNEL)))
    if missing := kernels - entries:
        raise DumpCut(f"XLA dumped LLVM IR of kernel {min(missing).decode()}, and no PTX")
    if entries and not (any(folder.glob("*.thunk_sequence.txt")) and any(folder.glob("*.thunk_metadata.txt"))):
        raise DumpCut(f"XLA dumped {len(entries)} kernels, and not the steps that run them")


def cut_code(folder: Path) -> list[str]:
    """The names of the files of machine code in a folder that are not whole."""
    cut = []
    for suffix, is_whole in _FORMATS.items():
        for path in folder.glob(f"*{suffix}"):
            data = path.read_bytes()
            if not is_whole(data) and (data or not _makes_nothing(path)):
                cut.append(path.name)
    return cut


def _found(folder: Path, suffix: str, what: re.Pattern[bytes]) -> Iterator[bytes]:
    for path in folder.glob(f"*{suffix}"):
        yield from what.findall(path.read_bytes())


def _makes_nothing(path: Path) -> bool:
    """Whether a file of PTX may be empty, because the LLVM IR that it is made from defines no kernel."""
    source = path.with_suffix(".ir-with-opt.ll")
    return path.suffix == ".ptx" and source.exists() and b"ptx_kernel" not in source.read_bytes()


def check_module(path: Path) -> None:
    """Raise DumpCut unless a file holds the text of a whole module."""
    if not is_whole_module(path):
        raise _cut(path)


def _cut(path: Path) -> DumpCut:
    return DumpCut(f"XLA's dump {path.name} is cut after {path.stat().st_size:,} bytes")


def _fields(data: bytes) -> Iterator[int]:
    """The numbers of a message's fields. Raises IndexError where the last one is cut.

    Wire format: https://protobuf.dev/programming-guides/encoding/
    """
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == 2:
            size, at = _varint(data, at)
            at += size
        elif wire == 0:
            _, at = _varint(data, at)
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            raise IndexError(f"wire type {wire}")
        if at > len(data):
            raise IndexError("a field that is cut")
        yield tag >> 3


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] >= 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def _is_whole_llvm(data: bytes) -> bool:
    """Whether all metadata and attributes that LLVM IR refers to are defined: their definitions are printed last."""
    bare = _STRING.sub(b"", data)
    nodes, groups = set(_NODE.findall(bare)), set(_GROUP.findall(bare))
    return (
        data.endswith(b"\n")
        and (len(data) < _BLOCK or _DEFINES.search(bare) is not None)
        and nodes.issuperset(_NODE_USED.findall(bare))
        and groups.issuperset(_GROUP_USED.findall(bare))
        and bare.count(b"{") == bare.count(b"}")
    )


def _is_balanced(data: bytes) -> bool:
    bare = _STRING.sub(b"", data)
    return (len(data) < _BLOCK or b"{" in bare) and bare.count(b"{") == bare.count(b"}") and data.endswith(b"\n")


def _is_whole_object(data: bytes) -> bool:
    """Whether an ELF file holds its table of sections, which LLVM writes last. Other kinds are not checked."""
    if not data.startswith(_ELF):
        return bool(data)
    if len(data) < 64:
        return False
    offset, size, count = struct.unpack_from("<Q10xHH", data, 40)
    return bool(offset > 0 and offset + size * count <= len(data))


def _is_whole_sequence(data: bytes) -> bool:
    """Whether every step of a GPU program that another one names as its next is there."""
    return data.endswith(b"\n") and {*map(int, _THUNK.findall(data))} >= {*map(int, _NEXT.findall(data))}


_FORMATS: dict[str, Callable[[bytes], bool]] = {
    ".ir-no-opt.ll": _is_whole_llvm,
    ".ir-with-opt.ll": _is_whole_llvm,
    ".ttir.txt": _is_balanced,
    ".ptx": _is_balanced,
    ".o": _is_whole_object,
    ".thunk_sequence.txt": _is_whole_sequence,
    ".thunk_metadata.txt": _is_balanced,
}
