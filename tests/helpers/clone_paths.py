"""What one clone has kept, for another: programs and what compilers make of them name the files of the clone.

Asked from two clones, 983 of 990 programs had the same text but for the folder, and the messages differed in the number
that a worker gives each module; the other seven are of GPUs, for which XLA gives one of several.
"""

from __future__ import annotations

from typing import Any

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
"""Wire types of protobuf."""


def moved(answer: Any, old: str, new: str) -> Any:
    """An answer whose files are in the folder `new` rather than `old`: texts, messages of protobuf, trees of these."""
    if isinstance(answer, str):
        return answer.replace(f"{old}/", f"{new}/")
    if isinstance(answer, bytes):
        return _moved_bytes(answer, f"{old}/".encode(), f"{new}/".encode())
    if isinstance(answer, dict):
        return {name: moved(value, old, new) for name, value in answer.items()}
    if type(answer) in (list, tuple):
        return type(answer)(moved(value, old, new) for value in answer)
    return answer


def text_of(module: bytes) -> str | bytes:
    """A module with its locations as text, in which names of files are plain: in bytecode their lengths count too.

    The bytes themselves, where it is none of this process's dialects.
    """
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        try:
            return str(ir.Module.parse(module).operation.get_asm(enable_debug_info=True))
        except ir.MLIRError:
            return module


def _moved_bytes(data: bytes, old: bytes, new: bytes) -> bytes:
    if old not in data or data == old:
        return data.replace(old, new)
    fields = _fields(data)
    if fields is None:  # a text
        return data.replace(old, new)
    made = bytearray()
    for start, begin, end in fields:
        value = data[begin:end]
        if begin == start or old not in value:
            made += data[start:end]
        else:
            value = _moved_bytes(value, old, new)
            made += _head(data, start) + _varint(len(value)) + value
    return bytes(made)


def _fields(data: bytes) -> list[tuple[int, int, int]] | None:
    """Of each field where it starts, where its bytes begin (its start, if it has none) and end; None of no message."""
    fields, at = [], 0
    while at < len(data):
        start = at
        tag, at = _read(data, at)
        kind = tag & 7
        if tag < 8 or at < 0:
            return None
        if kind == _BYTES:
            size, at = _read(data, at)
            if at < 0 or at + size > len(data):
                return None
            fields.append((start, at, at + size))
            at += size
            continue
        if kind == _VARINT:
            _, at = _read(data, at)
        elif kind in (_EIGHT, _FOUR):
            at += 8 if kind == _EIGHT else 4
        else:
            return None
        if at < 0 or at > len(data):
            return None
        fields.append((start, start, at))
    return fields


def _read(data: bytes, at: int) -> tuple[int, int]:
    """A varint and where it ends; -1 where there is none."""
    value = shift = 0
    while at < len(data) and shift < 64:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7
    return 0, -1


def _head(data: bytes, start: int) -> bytes:
    _, end = _read(data, start)
    return data[start:end]


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
