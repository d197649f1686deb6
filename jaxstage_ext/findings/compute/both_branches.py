"""Conditionals under vmap, of which every branch runs for every element."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from jaxstage_ext.analysis.cost import jaxpr_cost
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.promotion.promotion_walk import PRODUCTS
from jaxstage_ext.core.rewrites.batched_conds import BatchedCond, batched_conds
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

_LEAST, _LEAST_EACH = 1e6, 32.0
"""FLOPs of the branches that need not run, in all and for each number selected: below, a selection is the best form."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each conditional whose branches compute more than elementwise operations do."""
    made = [_finding(program, cond) for cond in batched_conds(program.jax_traced.jaxpr.jaxpr)]
    return [one for one in made if one is not None]


def _finding(program: Program, cond: BatchedCond) -> Finding | None:
    shape = cond.selection.outvars[0].aval.shape
    work = [sum(known.values()) * cond.runs for known in _work(cond)]
    spare = sum({key: flops for known in _work(cond) for key, flops in known.items()}.values()) * cond.runs - min(work)
    if spare < max(_LEAST, _LEAST_EACH * math.prod(shape) * cond.runs):
        return None
    places = EquationPlaces(program)
    return Finding(
        FindingKind.BOTH_BRANCHES,
        wording.all_branches(len(work), shape[0] if shape else 1, sorted(work, reverse=True)),
        stakes.stake(program, StakeMeasure.FLOPS, spare, 0.0),
        line=places.line(cond.selection),
        rows={"jaxpr": places.rows([cond.selection])},
        change=CodeChange(wording.one_branch()),
        certainty=Certainty.ESTIMATED,
        caveat=wording.ONE_AFTER_THE_OTHER,
        tab="cost",
    )


def _work(cond: BatchedCond) -> list[dict[Hashable, float]]:
    """FLOPs of the equations of each branch by what they compute: what two branches compute, XLA computes once."""
    numbers: dict[Any, Hashable] = {}

    def number(atom: Any) -> Hashable:
        return str(atom.val) if jaxprs.is_literal(atom) else numbers.get(atom, id(atom))

    numbers.update((given, number(cond_input)) for given, cond_input in cond.given)
    branches = []
    for branch in cond.branches:
        known: dict[Hashable, float] = {}
        for eqn in branch:
            params = str(eqn.params) if eqn.primitive.name in PRODUCTS else id(eqn) if jaxpr_cost.parts(eqn) else ""
            key = (eqn.primitive.name, params, *map(number, eqn.invars))
            work = jaxpr_cost.equation(eqn)
            known[key] = work.flops + work.transcendentals
            numbers.update((out, hash((key, at))) for at, out in enumerate(eqn.outvars))
        branches.append(known)
    return branches


DETECTOR = Detector(FindingKind.BOTH_BRANCHES, find, is_traced)
