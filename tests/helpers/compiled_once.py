"""What several test files compile is compiled once: a folder of compilers' answers that all test processes share.

Tests that are about figures, not about compiling, take answers from there (`kept()`).
The folder lies beside the packages' caches, so that a fresh clone finds what another has compiled. Its name holds all
that decides the answers: the compilers' versions, the source of the rooms that ask them and keep their replies, and
the week, so that each of them is compiled anew at least once a week.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jaxstage-tests" / "compiled"
COMPILERS = ("jax", "jaxlib", "libtpu", "jax-cuda13-plugin", "jax-cuda13-pjrt", "nvidia-cuda-nvcc", "nvidia-nvvm")
FORMAT = "2"
"""Changed where earlier runs kept what they should not have."""
ROOMS = ("store", "worker", "core")
MOST = 8
"""Folders that are left, the newest first."""
in_use: Path | None = None
"""The folder, within a block of `kept`."""


def version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "none"


@functools.cache
def folder() -> Path:
    """This week's answers of these compilers to this source; folders of other weeks, or unused for long, go."""
    digest = hashlib.sha256(FORMAT.encode())
    for room in ROOMS:
        for path in sorted((ROOT / "jaxstage_ext" / room).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    source = digest.hexdigest()[:12]
    year, week, _ = datetime.date.today().isocalendar()
    made = (
        FOLDERS / f"{year}w{week}-{source}-{hashlib.sha256(' '.join(map(version, COMPILERS)).encode()).hexdigest()[:8]}"
    )
    made.mkdir(parents=True, exist_ok=True)
    made.chmod(0o700)
    made.touch()
    this_week = [each for each in FOLDERS.glob("*") if each.name.startswith(f"{year}w{week}-")]
    for old in {*FOLDERS.glob("*")} - set(sorted(this_week, key=last_used)[-MOST:]):
        shutil.rmtree(old, ignore_errors=True)
    return made


def last_used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:  # another test process has removed it
        return 0


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Within the block, compilers' answers come from the folder, where they are there, and go to it.

    What was measured on this machine does not: other tests would find a roofline there.
    """
    from jaxstage_ext.core.targets import machine_ceilings
    from jaxstage_ext.store import cache

    global in_use
    before, in_use = in_use, folder()
    cache.use_folder(in_use)
    of_this_run = f"{machine_ceilings._FORMAT} of {os.getpid()} at {time.time_ns()}"
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(machine_ceilings, "_FORMAT", of_this_run)
            yield
    finally:
        in_use = before
        cache.use_folder(in_use)
