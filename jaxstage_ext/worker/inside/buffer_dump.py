"""XLA's buffer assignment out of a dump folder. Runs in the worker: stdlib alone."""

from __future__ import annotations

from pathlib import Path

from jaxstage_ext.worker.inside import whole_files

FLAGS = {"xla_dump_hlo_as_proto": True}
LARGEST = 512 << 20
"""Bytes above which an assignment is not sent."""
_MODULE, _ASSIGNMENT = 1, 3
"""Fields of an HloProto."""
_SUFFIX = "after_optimizations.hlo.pb"


class NoAssignment(ValueError):
    """A compile that left no buffer assignment; the text says why."""


def read(folder: Path, module: str | None, ended: bool) -> bytes:
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
