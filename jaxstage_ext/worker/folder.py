"""The folders of compile workers: whose they are, how full they are, what the log in them says.

A worker keeps its log and what XLA dumps in a folder of its own, which is removed when it ends. A folder whose kernel
and worker were both killed is removed by the next kernel that starts a worker.
"""

from __future__ import annotations

import contextlib
import os
import platform as system
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

LOG, DUMP = "log", "dump-"
"""The name of the log file, and how the folders begin that XLA dumps into."""
LARGEST, LEAST_FREE, LEAST = 4_000_000_000, 500_000_000, 16_000_000
"""Bytes that a folder may hold; that must stay free on the disk while it holds more than LEAST; while it holds less."""
_OWNER, _FOLDER = "owner", re.compile(r"jaxstage-(?:cpu|tpu|cuda)-")
_UNOWNED = 3600.0
_LOG_LINES, _LOG_BYTES = 8, 65536
_NOISE = re.compile(r"\s*(?:PC: )?@ |https?://symbolize|\*\*\* Check failure stack trace|I\d{4} \d\d:|\s*$")
_PASS = re.compile(r"\.(?P<number>\d{4})\.(?P<pipeline>[^.]+)\.(?:after_(?P<name>[^.]+)|\d+)\.")


def new(platform: str) -> Path:
    """An empty folder of this process. Raises OSError where none can be made or written."""
    folder = Path(tempfile.mkdtemp(prefix=f"jaxstage-{platform}-"))
    try:
        (folder / _OWNER).write_text(f"{_machine()}\n{os.getpid()} {_started(os.getpid())}\n")
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def add_owner(folder: Path, pid: int) -> None:
    """Note the worker's process, which `sweep` ends once the kernel is gone."""
    with contextlib.suppress(OSError), open(folder / _OWNER, "a") as file:
        file.write(f"{pid} {_started(pid)}\n")


def sweep() -> None:
    """Remove the folders whose kernel is gone, and end the workers it left; never those of another machine."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            if _FOLDER.match(entry.name) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_left(Path(entry.path))


def _remove_if_left(folder: Path) -> None:
    status = folder.stat()
    if status.st_uid != os.getuid():
        return
    try:
        machine, kernel, *workers = (folder / _OWNER).read_text().splitlines()
    except (OSError, ValueError):
        if status.st_mtime < time.time() - _UNOWNED:
            shutil.rmtree(folder, ignore_errors=True)
        return
    if machine != _machine() or _lives(kernel):
        return
    for worker in filter(_lives, workers):
        os.kill(int(worker.split()[0]), signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    """The machine and, in a container, the space in which process ids count."""
    try:
        return f"{system.node()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return system.node()


def _lives(process: str) -> bool:
    """Whether the process of that id is the one that started then."""
    pid, _, started = process.partition(" ")
    return bool(started) and pid.isdigit() and _started(int(pid)) == started


def _started(pid: int) -> str:
    """When a process started, in the system's own form; empty for one that has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if state == "Z" else fields[18]
    except (OSError, ValueError, IndexError):
        return "" if Path("/proc/self").exists() else _by_ps(pid)


def _by_ps(pid: int) -> str:
    try:
        done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=2)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def too_full(folder: Path) -> str | None:
    """Why a worker must not go on to fill its folder; None while it may, and where it dumps nothing."""
    used = _size(folder)
    if used > LARGEST:
        return f"wrote {used / 1e9:.1f} GB of dumps, over the limit of {LARGEST / 1e9:.1f} GB"
    if not any(folder.glob(f"{DUMP}*")):
        return None
    free = shutil.disk_usage(folder).free
    if free < (LEAST_FREE if used > LEAST else LEAST):
        return f"wrote {used / 1e9:.2f} GB and left {free / 1e9:.2f} GB on the disk of {folder.parent}"
    return None


def _size(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def pass_reached(folder: Path) -> str | None:
    """The pass that XLA wrote last into a dump folder of the worker's; None where nothing is dumped."""
    newest, number = None, -1
    for dump in folder.glob(f"{DUMP}*"):
        with contextlib.suppress(OSError):
            for entry in os.scandir(dump):
                if (match := _PASS.search(entry.name)) and int(match["number"]) > number:
                    newest, number = match, int(match["number"])
    return f"{newest['pipeline']}: {newest['name']}" if newest else None


def log_of(folder: Path) -> str:
    """The last 64 kB of what the worker printed; empty where there is nothing."""
    try:
        with open(folder / LOG, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def last_words(folder: Path) -> str:
    """The last lines of the log, C++ stacks and mere information left out."""
    lines = [line for line in log_of(folder).splitlines() if not _NOISE.match(line)]
    return "\n".join(line[:300] for line in lines[-_LOG_LINES:])
