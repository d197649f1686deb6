"""Loops in Python that make equal equations again and again, which `jax.lax.scan` would hold once."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import jaxprs, scanned_bodies, tracing
from jaxstage_ext.core.repetition.repeated_bodies import RepeatedBody, repeated_bodies
from jaxstage_ext.core.repetition.scan_plan import ScanPlan, scan_plan
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import call_name, unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import code_change, staged_changes, stakes
from jaxstage_ext.findings.compile_time import associative_levels, growing_array, scan_code
from jaxstage_ext.findings.compile_time import compile_time_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_compiled, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable

LEAST = 1.0
"""Seconds of compile time below which nobody rewrites a loop."""
_LEAST_BODIES, _LEAST_SHARE = 10, 0.4
"""Bodies from which on a scan compiled faster: of 8 layers slower, of 11 by a third, of 15 by half, of 39 by 90%."""
_Runs = Sequence[RepeatedBody]


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each loop, whose forward and backward bodies count together; on a GPU for associative scans.

    XLA makes a kernel that several layers use once for a GPU, so that a scan of layers there compiled for longer.
    """
    whole = stakes.figure(program, StakeMeasure.COMPILE)
    if whole is None or whole < LEAST:
        return []
    levels = [*associative_levels.find(program, whole), *growing_array.find(program, whole)]
    if program.platform == "gpu":
        return levels
    sources = functools.partial(code_change.source_lines, program)
    runs = repeated_bodies(
        program.jax_traced.jaxpr,
        _LEAST_BODIES,
        source_of=lambda file: _with_ends(sources(file)),
        least_part=_LEAST_SHARE,
    )
    loops: dict[tuple[str, int], list[RepeatedBody]] = {}
    for run in runs:
        if run.line is not None:
            loops.setdefault((run.line.file, run.line.line), []).append(run)
    total = jaxprs.count_equations(program.jax_traced.jaxpr)
    found = [_finding(program, loop, runs, total, whole) for loop in loops.values() if _is_of_layers(loop, total)]
    return [*levels, *(one for one in found if one.stake.most is not None and one.stake.most >= LEAST)]


def _with_ends(lines: Sequence[str]) -> list[str]:
    return [f"{line}\n" for line in lines]


def _is_of_layers(loop: _Runs, total: int) -> bool:
    """Whether the bodies hand something on, and are a good part of the program."""
    return loop[0].reads.carried > 0 and sum(run.equations for run in loop) >= _LEAST_SHARE * total


def _finding(program: Program, loop: _Runs, runs: _Runs, total: int, whole: float) -> Finding:
    largest, equations = loop[0], sum(run.equations for run in loop)
    assert largest.line is not None
    spared = sum(run.equations * (1 - 1 / run.count) for run in runs) / total
    code = wording.scan_template(largest.count)
    written = scan_code.edits(code_change.source_lines(program, largest.line.file), largest.line.line)
    of_diff = code_change.diff(program, largest.line.file, written) if largest.is_loop and written else ""
    stage = functools.partial(_staged, runs) if not _has_shardings(program.call) and any(_plans(runs)) else None
    return Finding(
        FindingKind.UNROLLED_LOOP,
        wording.unrolled(largest.count, equations, total, largest.is_loop),
        stakes.stake(program, StakeMeasure.COMPILE, whole * spared),
        line=f"{program.frame_table.source(largest.line.file).label}:{largest.line.line}",
        change=CodeChange(of_diff or code, bool(of_diff), stage),
        certainty=Certainty.ESTIMATED,
        caveat=wording.SCAN_IS_A_LOOP,
        tab="code",
    )


def _staged(runs: _Runs, staged: Staged) -> Staged:
    """The call with those of these runs as scans that can be one. Raises Unavailable where none is within reach."""
    if _has_shardings(staged.call):
        raise Unavailable(wording.HAS_SHARDINGS)
    plans = [plan for plan in _plans(runs) if plan is not None]
    made = scanned_bodies.stacked_call(unwrap(staged.value(TRACE)), plans)
    anew = Call(jax.jit(made.function, donate_argnums=made.donated), made.arguments, name=call_name(staged.call))
    return staged_changes.of_call(lambda call: anew)(staged)


def _plans(runs: _Runs) -> list[ScanPlan | None]:
    """Of each run how it becomes a scan; None where its bodies slice what they make, or have effects."""
    plans: list[ScanPlan | None] = []
    for run in runs:
        try:
            plans.append(scan_plan(run))
        except Unavailable:
            plans.append(None)
    return plans


def _has_shardings(call: Call) -> bool:
    return call.layout is not None or bool(tracing.own_shardings(call.fn))


def _applies(program: Program) -> bool:
    return is_compiled(program) and is_traced(program)


DETECTOR = Detector(FindingKind.UNROLLED_LOOP, find, _applies)
