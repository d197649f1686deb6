"""The files of one module in a folder that XLA dumped into elsewhere. They are read, never changed.

The standard library alone: it runs in the worker.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxstage_ext.worker.inside import kernel_dump, pass_dump, whole_files
from jaxstage_ext.worker.inside.dump_room import DumpCut

_TIME = re.compile(r"^\d+\.(?=module_)")


def read_passes(folder: str, keys: list[str]) -> dict[str, Any]:
    """The passes of the module whose files begin with one of `keys`, as `pass_dump.collect` gives them.

    Raises ValueError where a file is damaged.
    """
    with _linked(Path(folder), keys) as files:
        try:
            return pass_dump.read(files)
        except DumpCut as cut:
            raise ValueError(f"{cut.what}; copy or dump it once more") from None


def read_code(folder: str, keys: list[str], largest: int) -> dict[str, Any]:
    """The machine code of its kernels, as `kernel_dump.read` gives it; "damaged" names files that are cut."""
    with _linked(Path(folder), keys) as files:
        damaged = whole_files.cut_code(files)
        for name in damaged:
            (files / name).unlink()
        made = kernel_dump.read(files, largest)
        return {**made, "head": {**made["head"], "damaged": damaged}}


@contextlib.contextmanager
def _linked(folder: Path, keys: list[str]) -> Iterator[Path]:
    """A folder with links to the module's files alone, which readers may remove; their names without a time."""
    with tempfile.TemporaryDirectory(prefix="dump-", dir=Path.cwd()) as made:
        files = Path(made)
        for path in itertools.chain.from_iterable(folder.glob(f"{glob.escape(key)}.*") for key in keys):
            if path.is_file():
                (files / _TIME.sub("", path.name)).symlink_to(path.resolve())
        yield files


FLAGS = {"xla_dump_hlo_as_proto": True}
LARGEST = 512 << 20
"""Bytes above which an assignment is not sent."""
_MODULE, _ASSIGNMENT = 1, 3
"""Fields of an HloProto."""
_SUFFIX = "after_optimizations.hlo.pb"


class NoAssignment(ValueError):
    """A compile that left no buffer assignment; the text says why."""


def read_buffers(folder: Path, module: str | None, ended: bool) -> bytes:
    """The HloProto of the module with its buffer assignment: that of `module` if there are several.

    Raises NoAssignment, and DumpCut where it is not whole; `ended` says that the compile did not fail.
    """
    files = [path for path in sorted(folder.glob(f"*{_SUFFIX}")) if path.is_file()]
    if module and len(files) > 1:
        files = [path for path in files if f".{module}." in path.name] or files
    if not files:
        raise NoAssignment("XLA dumped no buffer assignment of it")
    largest = max(files, key=lambda path: path.stat().st_size)
    if (size := largest.stat().st_size) > LARGEST:
        raise NoAssignment(f"its buffer assignment is {size:,} bytes, above {LARGEST:,}")
    return whole_files.check_proto(largest.read_bytes(), largest, *(_MODULE, _ASSIGNMENT) if ended else (_MODULE,))
