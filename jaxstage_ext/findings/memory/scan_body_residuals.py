"""What a differentiated scan stacks for its backward pass, where its body under `jax.checkpoint` stacks less."""

from __future__ import annotations

import ast

from jaxstage_ext.core.jax_private import scan_residuals
from jaxstage_ext.core.jax_private.scan_residuals import StackedResiduals
from jaxstage_ext.findings import code_change, equation_place, jit_site, stakes
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.staged_changes import of_jaxpr
from jaxstage_ext.program.program import Program

LEAST = 1 << 20
"""Bytes."""
_LEAST_SHARE = 0.1
"""Of the memory needed: below that, computing the body twice is not worth it."""


def find(program: Program) -> list[Finding]:
    """One finding for all scans, named after the one that stacks the most."""
    pairs = scan_residuals.found(program.jax_traced.jaxpr.jaxpr)
    saved = float(sum(pair.before - pair.after for pair in pairs))
    room = stakes.temporaries(program)
    saved = saved if room is None else min(saved, room)
    stake = stakes.stake(program, StakeMeasure.MEMORY, saved)
    if saved < LEAST or (stake.share is not None and stake.share < _LEAST_SHARE):
        return []
    worst = max(pairs, key=lambda pair: pair.before - pair.after)
    stage = of_jaxpr(scan_residuals.checkpointed)
    scan = equation_place.place(program, worst.forward)
    return [
        Finding(
            FindingKind.RESIDUALS,
            _text(program, worst, sum(pair.before for pair in pairs)),
            stake,
            line=scan.label,
            change=code_change.change(wording.CHECKPOINT_BODY, _diff(program, scan), stage),
            certainty=Certainty.ESTIMATED,
            caveat=wording.BODY_TWICE,
            tab="memory",
        )
    ]


def _text(program: Program, pair: StackedResiduals, total: int) -> str:
    lines = dict.fromkeys(equation_place.place(program, eqn).label for eqn, _ in pair.makers())
    return wording.stacked_residuals([line for line in lines if line], int(pair.forward.params["length"]), total)


def _diff(program: Program, scan: EquationPlace) -> str:
    lines = code_change.source_lines(program, scan.file) if scan.file else ()
    tree = jit_site.parsed(lines)
    calls = [node for node in ast.walk(tree) if _is_scan(node, scan.line)] if tree is not None else []
    if len(calls) != 1 or not isinstance(calls[0], ast.Call):
        return ""
    body = calls[0].args[0]
    if body.end_lineno is None or body.end_col_offset is None:
        return ""
    return code_change.wrapped(program, scan.file, body, "jax.checkpoint(", ", prevent_cse=False)")


def _is_scan(node: ast.AST, line: int) -> bool:
    if not isinstance(node, ast.Call) or not node.args or not node.lineno <= line <= (node.end_lineno or 0):
        return False
    return ast.unparse(node.func).rpartition(".")[2] == "scan"
