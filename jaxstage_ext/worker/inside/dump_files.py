"""The files of one module in a folder that XLA dumped into elsewhere. They are read, never changed."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxstage_ext.worker.inside import kernel_dump, pass_dump


def passes(folder: str, key: str) -> dict[str, Any]:
    """The passes of the module whose files begin with `key`, as `pass_dump.collect` gives them."""
    with _linked(Path(folder), key) as files:
        return pass_dump.read(files)


def code(folder: str, key: str, largest: int) -> dict[str, Any]:
    """The machine code of its kernels, as `kernel_dump.read` gives it."""
    with _linked(Path(folder), key) as files:
        return kernel_dump.read(files, largest)


@contextlib.contextmanager
def _linked(folder: Path, key: str) -> Iterator[Path]:
    """A folder with links to the module's files alone, which readers may remove."""
    with tempfile.TemporaryDirectory(prefix="dump-", dir=Path.cwd()) as made:
        files = Path(made)
        for path in folder.glob(f"{key}.*"):
            if path.is_file():
                (files / path.name).symlink_to(path.resolve())
        yield files
