"""Arguments, results, constants, residuals, advice and checks of a program's memory, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from jaxstage_ext.analysis.memory import memory_wording as wording
from jaxstage_ext.analysis.memory.entry_values import ArgumentMemory, KeptConstant, ResultMemory
from jaxstage_ext.analysis.memory.memory_advice import MemoryAdvice
from jaxstage_ext.analysis.memory.memory_checks import Check
from jaxstage_ext.analysis.memory.spaces import DEFAULT
from jaxstage_ext.report.table import Column, Table


def arguments(rows: Sequence[ArgumentMemory], memories: Mapping[int, str]) -> Table:
    """One row per argument; `memories` are the names of the memories by XLA's number."""
    columns = {
        "argument": Column([row.name for row in rows]),
        "size": Column(_floats([row.size for row in rows]), "B", "bytes per device"),
        "padding": Column(_floats([row.padding for row in rows]), "B"),
        "shape": Column([row.shape for row in rows], "", "per device"),
        "donated": Column([row.donated for row in rows]),
        "memory reused by": Column([", ".join(row.becomes) for row in rows], "", "results that take its memory"),
        "state": Column([wording.DONATIONS[row.donation] for row in rows]),
        "used": Column([row.read for row in rows]),
        **_memory(rows, memories),
    }
    return Table("arguments", columns, {(i, "size"): wording.PRUNED for i, row in enumerate(rows) if not row.kept})


def _memory(rows: Sequence[ArgumentMemory | ResultMemory], memories: Mapping[int, str]) -> dict[str, Column]:
    """A column of the memories, where one of the values is not in the device's own."""
    if all(row.space == DEFAULT for row in rows):
        return {}
    return {"memory": Column([memories.get(row.space, f"memory space {row.space}") for row in rows])}


def _floats(values: Sequence[int | None]) -> list[float]:
    return [float("nan") if value is None else float(value) for value in values]


def results(rows: Sequence[ResultMemory], memories: Mapping[int, str]) -> Table:
    """One row per result; `memories` are the names of the memories by XLA's number."""
    columns = {
        "result": Column([row.name for row in rows]),
        "size": Column(np.array([row.size for row in rows], np.int64), "B", "bytes per device, padding included"),
        "padding": Column(np.array([row.padding for row in rows], np.int64), "B"),
        "shape": Column([row.shape for row in rows], "", "per device"),
        "reuses memory of": Column(
            [row.in_memory_of or "" for row in rows], "", "the donated argument that it replaces"
        ),
        **_memory(rows, memories),
    }
    return Table("results", columns)


def constants(rows: Sequence[KeptConstant]) -> Table:
    """One row per captured array."""
    columns = {
        "constant": Column([", ".join(row.names) or None for row in rows]),
        "size": Column(np.array([row.size for row in rows], np.int64), "B"),
        "shape": Column([row.shape for row in rows]),
        "in the program": Column([row.in_program for row in rows]),
    }
    return Table(
        "constants", columns, {(i, "constant"): wording.UNNAMED for i, row in enumerate(rows) if not row.names}
    )


def advice(suggestions: Sequence[MemoryAdvice], how: Callable[[MemoryAdvice], str]) -> Table:
    """What could be changed, with the bytes that it concerns, the most first."""
    columns = {
        "what": Column([wording.SUGGESTIONS[item.kind] for item in suggestions]),
        "bytes": Column(np.array([item.bytes for item in suggestions], np.int64), "B", "that it concerns"),
        "how": Column(
            [how(item) for item in suggestions],
            doc="what is known, and what a change does once compiled",
            is_answer=True,
        ),
        "line": Column([item.line for item in suggestions]),
    }
    return Table("advice", columns)


def checks(checks: Sequence[Check]) -> Table:
    """Figures beside XLA's own, and why they differ where they do."""
    columns = {
        "figure": Column([wording.FIGURES[check.figure] for check in checks]),
        "here": Column(np.array([check.ours for check in checks], np.int64), "B"),
        "XLA": Column([check.xla for check in checks], "B"),
        "note": Column([wording.check(check) for check in checks], is_answer=True),
    }
    reasons = {(i, "XLA"): wording.NO_STAT for i, check in enumerate(checks) if check.xla is None}
    return Table("checks", columns, reasons, () if checks else (wording.NO_STATS,))


POLICIES = ("nothing_saveable", "dots_with_no_batch_dims_saveable", "dots_saveable", "everything_saveable")


class Kept(Protocol):
    """An array that is kept; see `core.residuals.Residual`."""

    @property
    def made_by(self) -> str: ...
    @property
    def shape(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def line(self) -> str: ...
    @property
    def is_argument(self) -> bool: ...


def table(kept: Sequence[Kept]) -> Table:
    """One row per array."""
    saved, read = saved_bytes(kept), sum(array.size for array in kept if array.is_argument)
    columns = {
        "made by": Column([array.made_by for array in kept]),
        "size": Column(np.array([array.size for array in kept], np.int64), "B", "of the whole array, on all devices"),
        "shape": Column([array.shape for array in kept]),
        "line": Column([array.line for array in kept], "", "where it is computed; the name of an argument"),
    }
    return Table("residuals", columns, notes=(wording.residuals(saved, read),))


def saved_bytes(kept: Sequence[Kept]) -> int:
    """Bytes that are kept, without arguments."""
    return sum(array.size for array in kept if not array.is_argument)


def by_line(kept: Sequence[Kept]) -> Table:
    """Bytes by source line without arguments, the most first."""
    total: dict[str, int] = {}
    for array in kept:
        if not array.is_argument:
            total[array.line] = total.get(array.line, 0) + array.size
    lines = sorted(total, key=lambda line: -total[line])
    columns = {
        "line": Column([line or None for line in lines]),
        "size": Column(np.array([total[line] for line in lines], np.int64), "B"),
    }
    reasons = {(i, "line"): wording.NO_LINE for i, line in enumerate(lines) if not line}
    return Table("residuals by line", columns, reasons)
