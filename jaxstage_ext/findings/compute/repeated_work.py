"""What a loop computes anew in every iteration, though nothing of it changes."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.analysis.cost.loops import invariant_work
from jaxstage_ext.analysis.cost.loops.invariant_work import InvariantWork
from jaxstage_ext.core.rewrites import hoisted_loops
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_compiled
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.progress import Progress

_LEAST_PART = 0.5
"""Of what they take, that moving them out saves at least: the loop reads what they made."""
_LEAST = 1 << 20
"""Bytes that they move in all iterations, below which nothing is gained."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each loop that repeats work."""
    made = [_finding(program, loop) for loop in invariant_work.read(program.module)]
    return [one for one in made if one is not None]


def _finding(program: Program, loop: InvariantWork) -> Finding | None:
    counted, rows, trips = work(program), loop.rows.tolist(), loop.trips
    once = counted.moved, np.nan_to_num(counted.flops)
    moved, flops = (column[rows] if loop.is_in_branch else counted.total(column)[rows] for column in once)
    if np.nansum(moved) < _LEAST and np.nansum(flops) < _LEAST and not np.isnan(counted.flops[rows]).any():
        return None
    largest = rows[int(np.argmax(np.nan_to_num(moved) + flops))]
    lines = list(dict.fromkeys(filter(None, (counted.lines[row] for row in rows))))
    return Finding(
        FindingKind.REPEATED_WORK,
        wording.repeated([module_name(program, row) for row in rows], trips, loop.is_in_branch),
        _stake(program, loop),
        line=counted.lines[largest] or (lines[0] if lines else ""),
        rows={"hlo": tuple(sorted(int(counted.places.row[row]) for row in rows if counted.places.row[row] >= 0))},
        names=tuple(module_name(program, row) for row in rows[:3]),
        change=CodeChange(
            wording.before_the_loop(lines),
            stage=staged_changes.of_jaxpr(hoisted_loops.hoisted) if _can_hoist(program, trips) else None,
        ),
        certainty=Certainty.COUNTED if trips is not None and not loop.is_in_branch else Certainty.ESTIMATED,
        caveat=wording.KEPT_IN_MEMORY + (wording.ALSO_WITHOUT_BRANCH if loop.is_in_branch else ""),
        tab="cost",
    )


def module_name(program: Program, row: int) -> str:
    """What an instruction is called: the primitive that it computes, where XLA kept it."""
    module = program.module
    scope = module.scopes[module.scope[row]] if module.scope[row] >= 0 else ""
    return scope.rpartition("/")[2] or module.names[row].decode()


def _can_hoist(program: Program, trips: int | None) -> bool:
    traced = program.jax_traced
    return trips is not None and traced is not None and hoisted_loops.can_hoist(traced.jaxpr.jaxpr)


def _stake(program: Program, loop: InvariantWork) -> Stake:
    """All runs but one, and at most what is fused with them; unknown where it is not known how often they run."""
    is_timed = stakes.figure(program, StakeMeasure.TIME) is not None
    measure = StakeMeasure.TIME if is_timed else StakeMeasure.MOVED
    if loop.trips is None or loop.is_in_branch:
        return stakes.stake(program, measure, None)
    roof, part = device_roofline(program), 1 - 1 / loop.trips
    values = np.nan_to_num(roof.seconds if is_timed else roof.moved)
    own, every = (float(values[np.isin(roof.rows, rows)].sum()) * part for rows in (loop.rows, loop.body))
    return stakes.stake(program, measure, max(every, own) or None, _LEAST_PART * own)


DETECTOR = Detector(FindingKind.REPEATED_WORK, find, is_compiled)
