"""Running the tools of others on files that go away again."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_SECONDS = 120


@contextlib.contextmanager
def temporary_file(data: bytes, suffix: str) -> Iterator[str]:
    """The path of a file with these bytes, which is removed when the block ends."""
    handle, path = tempfile.mkstemp(suffix=suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        yield path
    finally:
        Path(path).unlink(missing_ok=True)


def output(command: list[str], errors: bool = False, folder: str | None = None) -> str:
    """What a program printed; with `errors`, to its standard error. Raises RuntimeError with its last words."""
    done = subprocess.run(command, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL, cwd=folder)
    printed = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        last = printed.strip()[-500:] or f"exit status {done.returncode}"
        raise RuntimeError(f"{Path(command[0]).name} failed: {last}")
    return printed if errors else done.stdout.decode("utf-8", "replace")
