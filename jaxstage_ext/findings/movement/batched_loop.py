"""Loops under vmap that end for each element by itself: all elements are computed until the last is done."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jaxstage_ext.analysis.dtypes.conversions import short
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

_LEAST, _LEAST_EACH = 1 << 20, 64
"""Bytes of a carried array, and its numbers for each element: smaller ones cost next to nothing to select."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each such loop that carries large arrays, which each iteration selects whole."""
    jaxpr = program.jax_traced.jaxpr.jaxpr
    loops = [eqn for body in jaxprs.all_jaxprs(jaxpr) for eqn in body.eqns if eqn.primitive.name == "while"]
    return [made for eqn in loops if (made := _finding(program, eqn)) is not None]


def _finding(program: Program, eqn: Any) -> Finding | None:
    test = getattr(eqn.params["cond_jaxpr"], "jaxpr", eqn.params["cond_jaxpr"])
    each = test.outvars[0].aval.shape
    if not each:  # one condition for all
        return None
    carried = [out.aval for out in eqn.outvars if out.aval.shape[: len(each)] == each]
    large = [aval for aval in carried if math.prod(aval.shape[len(each) :]) >= _LEAST_EACH and _size(aval) >= _LEAST]
    if not large:
        return None
    largest = max(large, key=_size)
    shape = f"{short(str(largest.dtype))}[{','.join(map(str, largest.shape))}]"
    places = EquationPlaces(program)
    return Finding(
        FindingKind.BATCHED_LOOP,
        wording.batched_loop(math.prod(each), shape, len(large), sum(map(_size, large))),
        stakes.stake(program, StakeMeasure.MOVED, None),
        line=places.line(eqn),
        rows={"jaxpr": places.rows([eqn])},
        change=CodeChange(wording.CARRY_LESS),
        certainty=Certainty.COUNTED,
        tab="cost",
    )


def _size(aval: Any) -> int:
    return int(math.prod(aval.shape) * np.dtype(aval.dtype).itemsize) if hasattr(aval.dtype, "itemsize") else 0


DETECTOR = Detector(FindingKind.BATCHED_LOOP, find, is_traced)
