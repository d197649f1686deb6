"""Arrays of indices, or of ones at indices, that take more memory than the data they are indexed into."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.core.jax_private import index_arrays
from jaxstage_ext.core.jax_private.index_arrays import IndexArray
from jaxstage_ext.findings import code_change, equation_place, stakes
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory import written_arrays
from jaxstage_ext.findings.staged_changes import of_jaxpr
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.progress import Progress

LEAST = 1 << 20
"""Bytes."""
_WORKSPACE = 1.1
"""With what a GPU's library keeps beside it."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for the gathers, and one for the products with one-hot arrays."""
    every = [one for one in index_arrays.found(program.jax_traced.jaxpr.jaxpr) if one.size >= max(one.data, LEAST)]
    if not every or not (program.has_hlo or program.error is not None):
        return []
    kinds = [[one for one in every if one.is_one_hot is hot] for hot in (True, False)]
    return [found for some in kinds if some and (found := _finding(program, some)) is not None]


def _finding(program: Program, arrays: list[IndexArray]) -> Finding | None:
    worst = max(arrays, key=lambda one: one.size)
    rows, most = np.zeros(0, np.int64), float(2 * worst.size)
    if program.has_hlo:
        rows = written_arrays.of_sizes(program.module, {one.elements for one in arrays})
        room, most = stakes.temporaries(program), _WORKSPACE * float(program.module.shapes.padded[rows].sum())
        most = most if room is None else min(most, room) if room >= LEAST else 0.0  # they are temporaries
    if most < LEAST:
        return None
    hot = worst.is_one_hot
    known = instruction_places(program).row[rows] if len(rows) else rows
    return Finding(
        FindingKind.INDEX_ARRAY,
        wording.index_array(hot, worst.size, worst.data),
        stakes.stake(program, StakeMeasure.MEMORY, most),
        line=equation_place.place(program, worst.eqn).label,
        rows={"hlo": tuple(known.tolist())},
        change=code_change.change(
            wording.TAKE_ROWS if hot else wording.ONE_INDEX, "", of_jaxpr(index_arrays.gathering) if hot else None
        ),
        certainty=Certainty.ESTIMATED if program.has_hlo else Certainty.INFERRED,
        caveat="" if program.has_hlo else wording.NOT_COMPILED,
        tab="memory",
    )


DETECTOR = Detector(FindingKind.INDEX_ARRAY, find, is_traced)
