"""Which of a profile's own fields of an event can be true.

Real profiles hold garbage, such as `regs:2191500840` in the kernel details of an AMD profile: it is shown, and marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST_THREADS = 1024
"""Threads of a block: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability"; HIP too."""
_MOST: dict[str, float] = {
    "regs": 1024,
    "registers_per_thread": 1024,
    "static_shared": 1 << 20,
    "dynamic_shared": 1 << 20,
    "shm": 1 << 20,
    "shared_memory": 1 << 20,
    "group_mem": 1 << 20,
    "occ_pct": 100,
    "theoretical_occupancy_pct": 100,
}
"""The most that any device on the market has: 255 registers a thread (CUDA) and 512 (CDNA), 228 KiB shared memory."""


def doubts(name: str, value: Any) -> tuple[str, ...]:
    """The parts of a field that cannot be true, such as "regs:2191500840"; none where all of it can be."""
    return tuple(part for part, key, text in _parts(name, value) if _is_impossible(key, text))


def _parts(name: str, value: Any) -> Iterator[tuple[str, str, str]]:
    """The field as a whole, and each `key:value` of a text that lists several."""
    whole = str(value)[:4000]
    yield whole, name, whole
    for part in whole.split():
        key, colon, text = part.partition(":")
        if colon:
            yield part, key, text


def _is_impossible(name: str, text: str) -> bool:
    key = name.strip().lower().replace(" ", "_")
    if key == "block":
        sizes = _whole_numbers(text)
        return bool(sizes) and (min(sizes) < 1 or _product(sizes) > MOST_THREADS)
    if key not in _MOST:
        return False
    try:
        return not 0 <= float(text) <= _MOST[key]
    except ValueError:
        return False


def _whole_numbers(text: str) -> list[int]:
    parts = text.strip("[]()").split(",")
    return [int(part) for part in parts if part.strip().isdecimal() and len(part) < 20]


def _product(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
