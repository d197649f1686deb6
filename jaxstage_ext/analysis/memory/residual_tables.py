"""What the backward pass keeps of the forward pass, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from jaxstage_ext.report.table import Column, Table, scaled

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
    """One row an array."""
    saved = sum(one.size for one in kept if not one.is_argument)
    read = sum(one.size for one in kept if one.is_argument)
    columns = {
        "made by": Column([one.made_by for one in kept]),
        "size": Column(np.array([one.size for one in kept], np.int64), "B", "of the whole array, on all devices"),
        "shape": Column([one.shape for one in kept]),
        "line": Column([one.line for one in kept], "", "where it is made; of an argument, its name"),
    }
    note = f"Kept for the backward pass: {scaled(saved, 'B')}, and {scaled(read, 'B')} of arguments, which live anyway."
    return Table("residuals", columns, notes=(note,))


def by_line(kept: Table) -> Table:
    """Bytes by source line, arguments left out, the most first."""
    total: dict[str, int] = {}
    for row in kept.rows():
        if row["made by"] != "argument":
            total[row["line"]] = total.get(row["line"], 0) + row["size"]
    lines = sorted(total, key=lambda line: -total[line])
    columns = {
        "line": Column([line or "unknown" for line in lines]),
        "size": Column(np.array([total[line] for line in lines], np.int64), "B"),
    }
    return Table("residuals by line", columns)


def compared(kept: Mapping[str, Table]) -> Table:
    """One row a policy; "" is the program as it is."""
    saved = [sum(r["size"] for r in found.rows() if r["made by"] != "argument") for found in kept.values()]
    columns = {
        "policy": Column([name or "as it is" for name in kept]),
        "kept": Column(np.array(saved, np.int64), "B", "of the forward pass, arguments left out"),
        "arrays": Column(np.array([sum(r["made by"] != "argument" for r in found.rows()) for found in kept.values()])),
    }
    note = "What is not kept is computed anew in the backward pass, where it needs memory for a while."
    return Table("policies", columns, notes=(note,))
