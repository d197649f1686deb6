"""Operations that the compiler made a loop of, and convolutions that it does not hand to a library in one."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.analysis.cost.loops import serial_operations
from jaxstage_ext.analysis.cost.loops.serial_operations import SerialOperation
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


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """A finding for each such loop, and one for the convolutions of each line."""
    made = [_of_loop(program, loop) for loop in serial_operations.loops(program.module)]
    return [*made, *(_convolutions(program) if program.platform == "cpu" else ())]


def _of_loop(program: Program, loop: SerialOperation) -> Finding:
    counted = work(program)
    return Finding(
        FindingKind.SERIAL_LOOP,
        wording.became_loop(loop.primitive, loop.trips),
        _stake(program, loop),
        line=counted.places.line[loop.row],
        rows={"hlo": (int(counted.places.row[loop.row]),)},
        change=CodeChange(wording.without_loop(loop.primitive)),
        certainty=Certainty.ESTIMATED,
        caveat=wording.LATENCY,
        tab="cost",
    )


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
