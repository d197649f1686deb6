"""The caches of this machine's CPU, and the arrays that they cannot hold."""

from __future__ import annotations

import os
from pathlib import Path

from jaxstage_ext.worker import memory_limit

ASSUMED = 64 << 20
"""Bytes of the last level of cache where the system does not say: as much as most have, so that a bound stays one."""
_STREAM = 4
"""How many times larger than all caches an array must be: STREAM's rule, McCalpin, "STREAM", run rules."""
_MEMORY_SHARE = 16
"""The largest array takes at most this part of the machine's memory."""
_CPUS = Path("/sys/devices/system/cpu")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def last_level_cache(cpus: Path = _CPUS) -> int | None:
    """Bytes of the largest caches of the cores that this process may use, together; None where that is unknown."""
    numbers = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    caches: dict[str, int] = {}
    for number in numbers:
        sizes = {}
        for cache in (cpus / f"cpu{number}" / "cache").glob("index*"):
            try:
                if (cache / "type").read_text().strip() == "Instruction":
                    continue
                level, shared = (cache / "level").read_text().strip(), (cache / "shared_cpu_list").read_text().strip()
                sizes[int(level), shared] = _bytes((cache / "size").read_text().strip())
            except (OSError, ValueError, KeyError):
                continue
        if sizes:
            (_, shared), size = max(sizes.items())
            caches[shared] = size
    return sum(caches.values()) or None


def _bytes(text: str) -> int:
    return int(text) if text.isdigit() else int(text[:-1]) * _UNITS[text[-1]]


def beyond(cache: int) -> int:
    """Bytes of an array that caches of so many bytes cannot hold, as far as the machine's memory allows."""
    half = memory_limit.half_of_machine()
    return min(_STREAM * cache, 2 * half // _MEMORY_SHARE) if half else _STREAM * cache
