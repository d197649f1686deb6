"""What several test files compile is compiled once: a folder of compilers' answers that all test processes share.

Tests that are about figures, not about compiling, take answers from there (`kept()`).
The folder's name holds all that decides the answers: the compilers' versions, the source of the rooms that ask them
and read their replies, and the week, so that each of them is compiled anew at least once a week.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import shutil
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ROOT / "build" / "compiled"
COMPILERS = ("jax", "jaxlib", "libtpu", "jax-cuda13-plugin", "jax-cuda13-pjrt", "nvidia-cuda-nvcc", "nvidia-nvvm")
ROOMS = ("store", "ir", "worker", "core", "report")


def version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "none"


@functools.cache
def folder() -> Path:
    """The folder of this week's answers of these compilers to this source; those of other weeks and sources go."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((ROOT / "jaxstage_ext" / room).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    source = digest.hexdigest()[:12]
    year, week, _ = datetime.date.today().isocalendar()
    prefix = f"{year}w{week}-{source}-"
    for old in FOLDERS.glob("*"):
        if not old.name.startswith(prefix):
            shutil.rmtree(old, ignore_errors=True)
    made = FOLDERS / (prefix + hashlib.sha256(" ".join(map(version, COMPILERS)).encode()).hexdigest()[:8])
    made.mkdir(parents=True, exist_ok=True)
    made.chmod(0o700)
    return made


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Within the block, compilers' answers come from the folder, where they are there, and go to it."""
    from jaxstage_ext.store import cache

    cache.use_folder(folder())
    try:
        yield
    finally:
        cache.use_folder(None)
