"""`jax.lax.associative_scan`, which writes its function out once for each level of a tree."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.compile_time import compile_time_finding_wording as wording
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import line_label

_LEAST_SHARE, _FEW = 0.4, 80
_LEAST_ON_ACCELERATORS = 20.0
"""Seconds of compile time for which steps one after the other may be worth it where levels run in parallel."""
"""Of the equations of the jaxpr; and how many of them compile fast whatever they are."""
_NAME = "associative_scan"


def find(program: Program, whole: float) -> list[Finding]:
    """One finding for the line that calls it, where most of the program is made; `whole`: seconds of the compile."""
    if program.platform != "cpu" and whole < _LEAST_ON_ACCELERATORS:
        return []
    by_line: dict[str, list[Any]] = {}
    frame_of, frames = jaxpr_lines.frame_reader(program.frame_table), None
    for body in jaxprs.all_jaxprs(program.jax_traced.jaxpr):
        for eqn in body.eqns:
            inside = tracebacks.frames_inside(eqn, _NAME)
            if inside is None or (number := frame_of(eqn)) < 0:
                continue
            frames = program.frame_table.freeze()
            chain = frames.stack(number)[inside:]
            label = next((line_label(frames, int(frames.user[at])) for at in chain if not frames.in_library[at]), "")
            by_line.setdefault(label, []).append(eqn)
    total = jaxprs.count_equations(program.jax_traced.jaxpr)
    return [
        _finding(program, line, len(equations), total, whole)
        for line, equations in by_line.items()
        if line and len(equations) >= max(_FEW, _LEAST_SHARE * total)
    ]


def _finding(program: Program, line: str, equations: int, total: int, whole: float) -> Finding:
    return Finding(
        FindingKind.UNROLLED_LOOP,
        wording.levels(equations, total),
        stakes.stake(program, StakeMeasure.COMPILE, whole * equations / total, 0.0),
        line=line,
        change=CodeChange(wording.SCAN_INSTEAD),
        certainty=Certainty.ESTIMATED,
        caveat=wording.ONE_AFTER_THE_OTHER,
        tab="code",
    )
