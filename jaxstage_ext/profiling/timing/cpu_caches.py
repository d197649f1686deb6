"""The caches and the memory of this machine, as the system reports them."""

from __future__ import annotations

import os
from pathlib import Path

ASSUMED = 64 << 20
"""Bytes of the last level of cache where the system does not say: as much as most have, so that a bound stays one."""
_CPUS = Path("/sys/devices/system/cpu")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def last_level(cpus: Path = _CPUS) -> int | None:
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
