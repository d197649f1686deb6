"""What the backward pass keeps of the forward pass, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from jaxstage_ext.analysis.memory import memory_wording as wording
from jaxstage_ext.report.table import Column, Table

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
