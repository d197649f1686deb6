"""Mosaic GPU profiler buffers, written from what truly ran: whole numbers that never wrap, and no code of ours."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class TrueRange:
    """A range of a named scope, from `begin` to `end` in cycles of its SM's counter, which never wraps here."""

    name: int
    begin: int
    end: int
    inner: tuple[TrueRange, ...] = ()


@dataclass(frozen=True)
class TrueTrace:
    """What one warp or warpgroup did: when it began by the global timer in ns, on which SM, and its ranges in order."""

    timer: int
    sm: int
    ranges: tuple[TrueRange, ...] = ()


def records_of(ranges: Sequence[TrueRange]) -> list[tuple[int, int]]:
    """(tag, cycle) of each record, in the order in which a kernel makes them."""
    made: list[tuple[int, int]] = []
    for each in ranges:
        made += [(each.name, each.begin), *records_of(each.inner), (each.name + 2**31, each.end)]
    return made


def written(traces: Sequence[TrueTrace], entries: int, header_counted: bool = False) -> npt.NDArray[np.uint32]:
    """The buffer that the kernels of JAX write; what fits into a trace, and the count of all."""
    data = b""
    for trace in traces:
        made = records_of(trace.ranges)
        used = 2 * len(made) + (3 if header_counted else 0)
        words = [trace.timer, trace.sm, used] + [word for record in made for word in record]
        words += [0xDEADBEEF] * (entries - len(words))
        data += struct.pack(f"<{entries}I", *(word % 2**32 for word in words[:entries]))
    return np.frombuffer(data, np.uint32)


def flat(ranges: Sequence[TrueRange], depth: int = 0) -> list[tuple[TrueRange, int]]:
    """Every range with its depth, in the order in which they begin."""
    return [item for each in ranges for item in [(each, depth), *flat(each.inner, depth + 1)]]
