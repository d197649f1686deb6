"""Schedules of XLA's, and the modules that they are of, made by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scheduled:
    """One instruction: its place in time in microseconds, and what the module says of it.

    `shown` is its name in the module that is shown, "" for the same; None where that module lacks it.
    """

    name: str
    start: float = 0.0
    end: float = 0.0
    opcode: str = "fusion"
    operands: tuple[str, ...] = ()
    memory: int = 0
    peak: int = 0
    shown: str | None = ""


def all_reduce(name: str, start: float, done: float, of: str = "", cost: float = 1.0) -> tuple[Scheduled, Scheduled]:
    """The halves of an all-reduce: the first begins at `start`, the second at `done`."""
    begin = Scheduled(f"{name}-start", start, start + cost, "all-reduce-start", (of,) if of else ())
    return begin, Scheduled(f"{name}-done", done, done + cost, "all-reduce-done", (begin.name,))


def schedule(*computations: Sequence[Scheduled], clock: int = 1, total: float = 0.0, wasted: float = 0.0) -> bytes:
    """A serialised ScheduleProto. Instructions are numbered through, computations from 1."""
    numbers = _numbers(computations)
    parts = [text(1, module(*computations))]
    for number, instructions in enumerate(computations, start=1):
        each = b"".join(text(2, _place(one, numbers, clock)) for one in instructions)
        sums = _double(11, wasted * clock) + _double(12, total * clock) + whole(13, 1000)
        parts.append(text(2, whole(1, number) + each + text(3, sums) + whole(4, clock)))
    return b"".join(parts)


def module(*computations: Sequence[Scheduled], shown: bool = False) -> bytes:
    """A serialised HloModuleProto of these computations, the entry first; with `shown` as later passes leave it."""
    numbers, parts = _numbers(computations), []
    order = b""
    for number, instructions in enumerate(computations, start=1):
        kept = [one for one in instructions if not shown or one.shown is not None]
        rows = b"".join(text(2, _instruction(one, numbers, shown)) for one in kept)
        ids = [numbers[one.name] for one in kept]
        parts.append(text(3, text(1, f"computation.{number}".encode()) + rows + whole(5, number) + whole(6, ids[-1])))
        order += text(1, whole(1, number) + text(2, b"".join(whole(1, one) for one in ids)))
    return text(1, b"jit_step") + b"".join(parts) + whole(6, 1) + text(7, order)


def _numbers(computations: Sequence[Sequence[Scheduled]]) -> dict[str, int]:
    return {one.name: at for at, one in enumerate((one for part in computations for one in part), start=1)}


def _place(one: Scheduled, numbers: dict[str, int], clock: int) -> bytes:
    times = _double(2, one.start * clock) + _double(3, one.end * clock)
    return whole(1, numbers[one.name]) + times + whole(5, one.memory) + whole(6, one.peak)


def _instruction(one: Scheduled, numbers: dict[str, int], shown: bool) -> bytes:
    name = (one.shown or one.name) if shown else one.name
    operands = b"".join(whole(36, numbers[other]) for other in one.operands)
    shape = whole(2, 11) + whole(3, 64)
    return (
        text(1, name.encode()) + text(2, one.opcode.encode()) + text(3, shape) + whole(35, numbers[one.name]) + operands
    )


def _double(field: int, value: float) -> bytes:
    return bytes([field << 3 | 1]) + struct.pack("<d", value) if value else b""


def whole(field: int, value: int) -> bytes:
    """A field that is a number."""
    return _varint(field << 3) + _varint(value)


def text(field: int, value: bytes) -> bytes:
    """A field that is a message or a string."""
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
