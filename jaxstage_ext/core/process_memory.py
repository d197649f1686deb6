"""How much memory a process holds, and how much there is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(pid: int) -> int | None:
    """Bytes of resident memory of a process; None where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return None if Path("/proc/self").exists() else _by_ps(pid)


def _by_ps(pid: int) -> int | None:
    try:
        said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, timeout=2)
        return int(said.stdout) * 1024
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
