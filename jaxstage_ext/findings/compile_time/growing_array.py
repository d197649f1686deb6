"""Arrays that a Python loop makes longer in each iteration: each has shapes of its own, and is traced."""

from __future__ import annotations

import ast
import itertools
import math
from typing import Any

from jaxstage_ext.core.jax_private import jaxpr_edits, jaxprs
from jaxstage_ext.findings import code_change, equation_place, jit_site, stakes
from jaxstage_ext.findings.compile_time import compile_time_finding_wording as wording
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program

_LEAST, _LEAST_SHARE = 16, 0.4
"""Iterations, and the part of the equations of the jaxpr that they make."""


def find(program: Program, whole: float) -> list[Finding]:
    """One finding for the loop that makes most of the equations; `whole`: seconds of the compile."""
    flat = jaxpr_edits.inlined(program.jax_traced.jaxpr.jaxpr)
    grown = [eqn for eqn in flat.eqns if eqn.primitive.name == "concatenate"]
    if len(grown) < _LEAST:
        return []
    by_line: dict[EquationPlace, list[Any]] = {}
    for eqn, place in zip(grown, equation_place.places(program, grown), strict=True):
        by_line.setdefault(place, []).append(eqn)
    place, longest = max(by_line.items(), key=lambda item: len(item[1]))
    loop = _loop(program, place)
    if len(longest) < _LEAST or loop is None or not _grows(longest):
        return []
    places = equation_place.places(program, flat.eqns)
    last = loop.end_lineno or loop.lineno
    count = sum(1 for one in places if one.file == place.file and loop.lineno <= one.line <= last)
    total = max(len(flat.eqns), 1)
    if count < _LEAST_SHARE * total:
        return []
    return [
        Finding(
            FindingKind.UNROLLED_LOOP,
            wording.grows(len(longest), count, total),
            stakes.stake(program, StakeMeasure.COMPILE, whole * count / total, 0.0),
            line=jit_site.label(program, place.file, loop.lineno),
            change=CodeChange(wording.write_into(len(longest))),
            certainty=Certainty.ESTIMATED,
            tab="code",
        )
    ]


def _grows(equations: list[Any]) -> bool:
    """Whether each is larger than the one before and made of values that are not literals."""
    sizes = [math.prod(eqn.outvars[0].aval.shape) for eqn in equations if jaxprs.variables(eqn.invars)]
    return all(before < after for before, after in itertools.pairwise(sizes))


def _loop(program: Program, place: EquationPlace) -> ast.For | ast.While | None:
    """The innermost loop of the source around a line."""
    lines = code_change.source_lines(program, place.file) if place.file else ()
    tree = jit_site.parsed(lines) if lines else None
    around = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.For | ast.While) and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno, default=None)
