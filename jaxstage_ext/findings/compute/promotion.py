"""Operands that are wider than what they are combined with, so that all that is computed of it is wider too."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jaxstage_ext.analysis.dtypes.conversions import short
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.promotion import narrow_arguments, promotions
from jaxstage_ext.core.promotion.promotion_values import InfectedValues, OperandSource, SourceKind, Widths, itemsize
from jaxstage_ext.core.promotion.promotion_walk import PRODUCTS
from jaxstage_ext.core.promotion.promotions import Promotions
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute import operand_names
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.ir.hlo.module import BOOKKEEPING
from jaxstage_ext.ir.hlo.shapes import TYPES
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.progress import Progress

_LEAST = 65_536
"""Bytes of wide values below which nothing is gained."""
_MOST_PRODUCTS = 0.5
"""Of the FLOPs of all matrix products, from which on an argument that widens them is not wide on purpose."""

_HANDS_ON = (*BOOKKEEPING, b"while", b"conditional", b"call")
"""Opcodes that move nothing themselves."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for the operands that the program brings itself, and one for its arguments, by pair of dtypes."""
    jaxpr = program.jax_traced.jaxpr
    implicit = promotions.Implicit()
    return [made for widths in promotions.widths_of(jaxpr, implicit) for made in _of_widths(program, widths, implicit)]


def _of_widths(program: Program, widths: Widths, implicit: promotions.Implicit) -> list[Finding]:
    jaxpr = program.jax_traced.jaxpr
    own = promotions.read(jaxpr, widths, promotions.OWN, implicit)
    worth = [one for one in own.infected if one.products or one.is_returned]
    if sum(one.saved for one in worth) >= _LEAST:
        without = staged_changes.of_jaxpr(functools.partial(promotions.without, widths=widths, follows=own.follows))
        return [_finding(program, widths, worth, sum(one.saved for one in worth), without)]
    given = _arguments(jaxpr.jaxpr, widths, promotions.read(jaxpr, widths, promotions.ALL, implicit))
    numbers = frozenset(one.source.number for one in given)
    saved = (
        sum(one.saved for one in given) + sum(_size(jaxpr.jaxpr.invars[number]) for number in numbers) * widths.saved
    )
    if saved < _LEAST:
        return []
    count = len(jaxpr.jaxpr.invars)
    narrow = staged_changes.of_call(
        functools.partial(narrow_arguments.narrowed, numbers=numbers, dtype=widths.narrow, count=count)
    )
    return [_finding(program, widths, given, saved, narrow)]


def _arguments(jaxpr: Any, widths: Widths, every: Promotions) -> list[InfectedValues]:
    """The arguments that widen most of the matrix products; none that are a state, which results replace."""
    given = [one for one in every.infected if one.source.kind is SourceKind.ARGUMENT]
    if not every.products or sum(one.products for one in given) < _MOST_PRODUCTS * every.products:
        return []
    results = {tuple(out.aval.shape) for out in jaxpr.outvars if widths.is_wide(out)}
    state = [one for one in given if tuple(jaxpr.invars[one.source.number].aval.shape) in results]
    return [] if state else given


def _size(var: Any) -> int:
    return math.prod(var.aval.shape)


def _finding(
    program: Program,
    widths: Widths,
    infected: Sequence[InfectedValues],
    saved: float,
    stage: Callable[[Staged], Staged],
) -> Finding:
    places, first = EquationPlaces(program), infected[0]
    names = tuple(dict.fromkeys(_name(program, places, one.source, one.first) for one in infected))
    products = sum(1 for one in infected for eqn in one.equations if eqn.primitive.name in PRODUCTS)
    narrow, wide = short(widths.narrow), short(widths.wide)
    count = sum(len(one.equations) for one in infected)
    is_emulated = program.platform == "cpu" and widths.narrow != "float32"
    return Finding(
        FindingKind.PROMOTION,
        wording.promoted(names, narrow, wide, count, products),
        _stake(program, widths, None if is_emulated else saved),
        line=_line_to_change(places, first.source) or places.line(first.first),
        rows={"jaxpr": places.rows(eqn for one in infected for eqn in one.equations)},
        names=names,
        change=CodeChange(wording.narrow_it(names[0], first.source.kind, widths.narrow), stage=stage),
        certainty=Certainty.ESTIMATED,
        caveat=wording.is_narrow_enough(narrow, wide, is_emulated),
        tab="dtypes",
    )


def _stake(program: Program, widths: Widths, saved: float | None) -> Stake:
    """At most all wide arrays that the kernels read and write become narrow: what is wide within one costs nothing."""
    made = stakes.stake(program, StakeMeasure.MOVED, saved)
    if made.most is None or made.whole is None:
        return made
    part = widths.saved / itemsize(widths.wide)
    return replace(made, most=min(made.most, part * min(made.whole, _moved(program, short(widths.wide)))))


def _moved(program: Program, dtype: str) -> float:
    """Bytes of a dtype that the instructions outside of fusions write, and read as they stand in their operands."""
    counted, module = work(program), program.module
    named = {number for number, (name, _) in TYPES.items() if name == dtype}
    own = np.where(np.isin(module.shapes.element_type, list(named)), module.shapes.bytes, 0).astype(np.float64)
    parts = module.rows(b"get-tuple-element")
    makers = np.array([of[0] for of in (module.operands[row] for row in parts.tolist())], np.int64)
    is_known = makers >= 0
    made = own + np.bincount(makers[is_known], own[parts[is_known]], len(module))
    rows = [row for row in counted.shown.tolist() if module.opcode[row] not in _HANDS_ON]
    moved = [made[row] + sum(own[of] for of in module.operands[row] if of >= 0) for row in rows]
    return float(np.nansum(np.array(moved) * counted.runs[rows]))


def _name(program: Program, places: EquationPlaces, source: OperandSource, user: Any) -> str:
    """What an operand is called: the user's name of it, its value, or what makes it."""
    jaxpr = program.jax_traced.jaxpr
    if source.kind is SourceKind.ARGUMENT:
        names = jaxpr.jaxpr.debug_info.arg_names or ()
        return str(names[source.number]) if source.number < len(names) else wording.AN_ARGUMENT
    if source.kind is SourceKind.CAPTURED:
        [names] = captured.names(program.call.fn, [jaxpr.consts[source.number]])
        return names[0] if names else wording.A_CAPTURED_ARRAY
    if source.kind is SourceKind.LITERAL:
        value = float(np.asarray(source.value))
        return operand_names.scalar(program, value, user) or wording.scalar(value)
    if name := operand_names.assigned(program, source.eqn, user):
        return name
    return wording.made_by(source.eqn.primitive.name, places.line(source.eqn))


def _line_to_change(places: EquationPlaces, source: OperandSource) -> str:
    return places.line(source.eqn) if source.kind is SourceKind.MADE else ""


DETECTOR = Detector(FindingKind.PROMOTION, find, is_traced)
