"""Kernels that are forked from a process which has imported what a kernel imports: see `kernel_mother`."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOTHER, CHILD = (Path(__file__).with_name(f"kernel_{name}.py") for name in ("mother", "child"))
READ_BY_IMPORTS = ("JAX", "XLA", "LIBTPU", "TPU", "PYTHON")
"""How the names of such variables begin, JAXSTAGE_CACHE_DIR's among them; any other a kernel has from its own."""


def python_path() -> dict[str, str]:
    """The package of this checkout before an installed one."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}


def command(mother: Path) -> list[str]:
    """What starts a kernel that this mother forks, without the file of its connection."""
    return [sys.executable, "-I", "-S", str(CHILD), str(mother)]


@contextlib.contextmanager
def mother_of_kernels(folder: Path) -> Iterator[Path]:
    """The socket of a process that forks into kernels, for the time of the block."""
    path = folder / "kernels.socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        argv, environment = [sys.executable, str(MOTHER), str(listener.fileno())], {**os.environ, **python_path()}
        process = subprocess.Popen(argv, pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL, env=environment)
    try:
        yield path
    finally:
        process.kill()
        process.wait()


def mother() -> Path:
    """The socket of one, for kernels of the environment as it is now; the first of such asks starts it."""
    return _mother(tuple(sorted(item for item in os.environ.items() if item[0].startswith(READ_BY_IMPORTS))))


@functools.cache
def _mother(_: tuple[tuple[str, str], ...]) -> Path:
    folder, until_the_end = tempfile.mkdtemp(prefix="kernels-"), contextlib.ExitStack()
    atexit.register(until_the_end.close)
    until_the_end.callback(shutil.rmtree, folder, ignore_errors=True)
    return until_the_end.enter_context(mother_of_kernels(Path(folder)))
