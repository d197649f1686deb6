"""XLA's buffer assignment out of a dump folder. Runs in the worker: stdlib alone."""

from __future__ import annotations

from pathlib import Path

FLAGS = {"xla_dump_hlo_as_proto": True}
LARGEST = 512 << 20
"""Bytes above which an assignment is not sent."""
_SUFFIX = "after_optimizations.hlo.pb"


class NoAssignment(ValueError):
    """A compile that left no buffer assignment; the text says why."""


def read(folder: Path, module: str | None) -> bytes:
    """The HloProto of the module as it was when XLA had given it memory: of `module` if there are several.

    Raises NoAssignment.
    """
    found = [path for path in sorted(folder.glob(f"*{_SUFFIX}")) if path.is_file()]
    if module and len(found) > 1:
        found = [path for path in found if f".{module}." in path.name] or found
    if not found:
        raise NoAssignment("XLA wrote out no buffer assignment of it")
    largest = max(found, key=lambda path: path.stat().st_size)
    if (size := largest.stat().st_size) > LARGEST:
        raise NoAssignment(f"its buffer assignment is {size:,} bytes, above {LARGEST:,}")
    return largest.read_bytes()
