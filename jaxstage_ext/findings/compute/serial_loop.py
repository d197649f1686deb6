"""Operations that the compiler made a loop of, and convolutions that it does not hand to a library in one."""

from __future__ import annotations

import math

import numpy as np

from jaxstage_ext.analysis.cost.loops import serial_operations
from jaxstage_ext.analysis.cost.loops.serial_operations import SerialOperation
from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_compiled
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.progress import Progress

_LEAST_SHARE = 0.01
"""Of the program's lower bound, below which that of a loop says nothing of it."""
_LEAST_FLOPS = 1e7
"""Of a convolution in all iterations, below which it takes no time."""
_UPDATES, _TILE = ("scatter", "dynamic_update"), (8, 128)


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """A finding for each such loop, and one for the convolutions of each line."""
    made = [_of_loop(program, loop) for loop in serial_operations.loops(program.module)]
    return [*made, *(_convolutions(program) if program.platform == "cpu" else ())]


def _of_loop(program: Program, loop: SerialOperation) -> Finding:
    counted = work(program)
    row = int(counted.places.row[loop.row])
    is_known = not loop.primitive.startswith(_UPDATES) or _is_indexed_as_it_lies(program, row)
    return Finding(
        FindingKind.SERIAL_LOOP,
        wording.became_loop(loop.primitive, loop.trips),
        _stake(program, loop) if is_known else stakes.stake(program, StakeMeasure.TIME, None),
        line=counted.places.line[loop.row],
        rows={"hlo": (row,)},
        change=CodeChange(wording.without_loop(loop.primitive)) if is_known else None,
        certainty=Certainty.ESTIMATED,
        caveat=wording.LATENCY if is_known else wording.COPIES_TO_INDEX,
        tab="cost",
    )


def _is_indexed_as_it_lies(program: Program, row: int) -> bool:
    """Whether rows of what a loop updates can be indexed where it lies; of other layouts, a TPU copies it all twice.

    Known by compiles for v5e: with a row-major layout whose last two dimensions fill tiles of 8 x 128 it does not.
    """
    text = program.documents["hlo"].lines[row].partition(" = ")[2] if row >= 0 else ""
    arrays = layout_text.read(text[: text.find(" while(")])
    if not arrays:
        return False
    largest = max(arrays, key=lambda one: math.prod(one.sizes))
    fills = len(largest.sizes) > 1 and largest.sizes[-2] % _TILE[0] == 0 and largest.sizes[-1] % _TILE[1] == 0
    return largest.is_default and fills


def _stake(program: Program, loop: SerialOperation) -> Stake:
    """The lower bound of what runs in the loop; unknown where that is nothing, as a loop waits between iterations."""
    roof = device_roofline(program)
    seconds = float(np.nansum(roof.seconds[np.isin(roof.rows, loop.inside)]))
    whole = stakes.figure(program, StakeMeasure.TIME)
    is_worth = whole is not None and seconds >= _LEAST_SHARE * whole
    return stakes.stake(program, StakeMeasure.TIME, seconds if is_worth else None)


def _convolutions(program: Program) -> list[Finding]:
    counted, module = work(program), program.module
    by_line: dict[str, list[int]] = {}
    for row in serial_operations.slow_convolutions(module):
        if float(np.nan_to_num(counted.flops[row] * counted.runs[row])) >= _LEAST_FLOPS:
            by_line.setdefault(counted.places.line[row], []).append(row)
    return [
        Finding(
            FindingKind.SERIAL_LOOP,
            wording.slow_convolution(len(rows)),
            stakes.stake(program, StakeMeasure.TIME, None),
            line=line,
            rows={"hlo": tuple(sorted(int(counted.places.row[row]) for row in rows if counted.places.row[row] >= 0))},
            change=CodeChange(wording.canonical(all(serial_operations.is_of_derivative(module, row) for row in rows))),
            certainty=Certainty.COUNTED,
            tab="cost",
        )
        for line, rows in by_line.items()
    ]


DETECTOR = Detector(FindingKind.SERIAL_LOOP, find, is_compiled)
