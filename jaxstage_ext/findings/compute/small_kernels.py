"""Programs of many kernels that each take less than a launch does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.loops.serial_operations import instructions_inside
from jaxstage_ext.core.rewrites import batched_maps, unrolled_scans
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.ir.hlo import totals
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.progress import Progress

LAUNCH = 1e-6
"""Seconds that a kernel takes at least, whatever it computes: about 1 µs within a CUDA graph, 2 to 5 µs outside."""
_LEAST_LAUNCHES, _TIMES, _MOST_OF_THEM = 2_000, 2.0, 0.5
"""A call of fewer launches is over in some milliseconds, as a short solver or filter is."""


def applies(program: Program) -> bool:
    """Whether kernels are launched, and what they take at least is known."""
    return program.has_hlo and program.platform == "gpu"


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for the loop that launches most of them, else for the line that does."""
    launches, bound = stakes.figure(program, StakeMeasure.LAUNCHES), stakes.figure(program, StakeMeasure.TIME)
    if launches is None or bound is None or launches < _LEAST_LAUNCHES or launches * LAUNCH < _TIMES * bound:
        return []
    counted = work(program)
    runs = np.where(totals.launches(program.module), counted.runs, 0.0)
    loop, most = _busiest_loop(program, runs)
    if most >= _MOST_OF_THEM * launches:
        return [_in_loop(program, loop, most, bound)]
    lines: dict[str, float] = {}
    for row in np.flatnonzero(runs).tolist():
        lines[counted.lines[row]] = lines.get(counted.lines[row], 0.0) + float(runs[row])
    busiest = max(lines, key=lambda line: lines[line])
    rows = [int(counted.places.row[row]) for row in np.flatnonzero(runs).tolist() if counted.lines[row] == busiest]
    return [_finding(program, busiest, rows, lines[busiest], bound, CodeChange(wording.stacked()))]


def _busiest_loop(program: Program, runs: npt.NDArray[np.float64]) -> tuple[int, float]:
    """(the innermost loop of those that launch the most kernels, how many it does)."""
    module = program.module
    loops = [(float(runs[instructions_inside(module, row)].sum()), row) for row in module.rows(b"while").tolist()]
    largest = max(loops, default=(0.0, -1))[0]
    inner = [(len(instructions_inside(module, row)), row) for count, row in loops if count >= _MOST_OF_THEM * largest]
    row = min(inner, default=(0, -1))[1]
    return row, next((count for count, one in loops if one == row), 0.0)


def _in_loop(program: Program, loop: int, count: float, bound: float) -> Finding:
    counted, traced = work(program), program.jax_traced
    line = counted.places.line[loop]
    if traced is not None and line and line in map(EquationPlaces(program).line, batched_maps.maps(traced.jaxpr.jaxpr)):
        change = CodeChange(
            wording.batched_map(batched_maps.BATCH), stage=staged_changes.of_jaxpr(batched_maps.batched)
        )
        return _finding(program, line, [int(counted.places.row[loop])], count, bound, change)
    can_try = traced is not None and unrolled_scans.can_unroll(traced.jaxpr.jaxpr)
    stage = staged_changes.of_jaxpr(unrolled_scans.unrolled) if can_try else None
    change = CodeChange(wording.unroll(unrolled_scans.STEPS, can_try), stage=stage)
    return _finding(program, line, [int(counted.places.row[loop])], count, bound, change)


def _finding(program: Program, line: str, rows: list[int], count: float, bound: float, change: CodeChange) -> Finding:
    launches = stakes.figure(program, StakeMeasure.LAUNCHES)
    most = count if change.stage is not None else None
    return Finding(
        FindingKind.SMALL_KERNELS,
        wording.small_kernels(int(launches or count), bound, int(count)),
        stakes.stake(program, StakeMeasure.LAUNCHES, most, 0.0 if most is not None else None),
        line=line,
        rows={"hlo": tuple(sorted(row for row in rows if row >= 0))},
        change=change,
        certainty=Certainty.ESTIMATED,
        tab="cost",
    )


DETECTOR = Detector(FindingKind.SMALL_KERNELS, find, applies)
