"""How much memory a worker process holds, and how much it may hold."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from jaxstage_ext.report import kernel_settings

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


def bytes_of(text: str) -> int:
    """The bytes of "8GB", "500 MB", "8GiB", "8000000000". Raises ValueError for anything else, and for none."""
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * (1024 if match[3] else 1000) ** " kmgt".index(match[2].lower() or " ") if match else 0
    if not match or not 1 <= size < 1 << 60 or (match[3] and not match[2]):
        raise ValueError(f"{text!r} is not a size of memory such as 8GB")
    return int(size)


def default() -> int | None:
    """The memory, in bytes, of worker compiles whose request sets none; None where there is no limit."""
    return kernel_settings.now().worker_memory or half_of_machine()


def resident(pid: int) -> int | None:
    """Bytes of resident memory of a process; None where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return None if Path("/proc/self").exists() else _by_ps(pid)


def _by_ps(pid: int) -> int | None:
    try:
        done = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, timeout=2)
        return int(done.stdout) * 1024
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def half_of_machine() -> int | None:
    """Half of the memory that this process may use: the machine's, or its container's if that is less."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * _PAGE
    except (OSError, ValueError):
        return None
    return min([total, *_container_limits()]) // 2


def _container_limits() -> list[int]:
    limits = []
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(file).read_text()))
        except (OSError, ValueError):
            continue
    return limits
