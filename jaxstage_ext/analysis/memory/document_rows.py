"""Where an instruction stands in the document."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.ir.wire.protowire import Longs


def first_known(places: Longs, *instructions: Longs) -> Longs:
    """The row of the document of the first of these instructions that has one; -1 for none."""
    rows = np.full(len(instructions[0]), -1, np.int64)
    for instruction in instructions:
        rows = np.where((rows < 0) & (instruction >= 0), places[np.maximum(instruction, 0)], rows)
    return rows
