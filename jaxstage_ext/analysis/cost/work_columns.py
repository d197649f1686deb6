"""What the tables of work share: bytes moved, and FLOPs over bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from jaxstage_ext.report.table import Column, Table

TRANSCENDENTALS = "transcendental functions: exp, log, tanh, …"


def intensity(flops: Any, moved: Any) -> Column:
    """Arithmetic intensity; NaN where nothing is moved."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return Column(
            np.where(moved > 0, flops / moved, np.nan), "FLOP/B", "arithmetic intensity: FLOPs per byte moved"
        )


def with_bytes(table: Table) -> Table:
    """A table of work with the bytes that are read and written together, and with the intensity."""
    moved = np.asarray(table["bytes read"]) + np.asarray(table["bytes written"])
    added = {
        "bytes": Column(moved, "B", "bytes read and written, over all runs"),
        "intensity": intensity(np.asarray(table["FLOPs"]), moved),
    }
    return replace(table, columns={**table.columns, **added})
