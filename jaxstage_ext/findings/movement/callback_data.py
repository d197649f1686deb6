"""Large arrays that callbacks take or give: gathered from all devices first, or only handed on to another callback."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jaxstage_ext.core.jax_private import effect_rules, jaxprs, resharded
from jaxstage_ext.findings import equation_place, staged_changes, stakes
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import collectives as exchanged

DEBUG = ("debug_callback", "debug_print")
LEAST_GATHERED, LEAST_HANDED_ON = 1 << 20, 1 << 24
"""Bytes of an array below which it is not worth telling that it is gathered, and that it goes to and fro."""


class _Called(NamedTuple):
    """A callback outside of loops."""

    equation: Any
    kind: str
    makers: Mapping[Any, Any]
    """The equations that make the values of its jaxpr."""
    place: EquationPlace


def find(program: Program) -> Iterator[Finding]:
    """One finding for each callback that gathers an array, and for each that reads what another gave."""
    found = list(_outside_loops(program.jax_traced.jaxpr.jaxpr))
    places = equation_place.places(program, [eqn for eqn, _ in found])
    for (eqn, makers), place in zip(found, places, strict=True):
        one = _Called(eqn, effect_rules.callback_kind(eqn), makers, place)
        yield from _gathered(program, one)
        yield from _handed_on(one)


def gathers(program: Program) -> bool:
    """Whether XLA gathers what a callback takes."""
    return any(_gathered_for(program, eqn) for eqn, _ in _outside_loops(program.jax_traced.jaxpr.jaxpr))


def _outside_loops(jaxpr: Any) -> Iterator[tuple[Any, Mapping[Any, Any]]]:
    callbacks = [eqn for eqn in jaxpr.eqns if effect_rules.callback_kind(eqn)]
    makers = jaxprs.makers(jaxpr) if callbacks else {}
    yield from ((eqn, makers) for eqn in callbacks)
    for eqn, held in jaxprs.holders(jaxpr):
        if eqn.primitive.name not in ("scan", "while", "shard_map") and not effect_rules.callback_kind(eqn):
            for inner in held:
                yield from _outside_loops(inner)


def _bytes(value: Any) -> int:
    return int(math.prod(value.aval.shape) * getattr(value.aval.dtype, "itemsize", 0))


def _gathered_for(program: Program, eqn: Any) -> list[Any]:
    """The all-gathers of the sizes of what a callback takes."""
    if not program.has_hlo or not exchanged.count(program):
        return []
    sizes = {size for value in jaxprs.variables(eqn.invars) if (size := _bytes(value)) >= LEAST_GATHERED}
    return [row for row in exchanged.exchanges(program).rows if row.op.kind == "all-gather" and row.payload in sizes]


def _gathered(program: Program, called: _Called) -> Iterator[Finding]:
    rows = _gathered_for(program, called.equation)
    if not rows:
        return
    is_debug, name = called.kind in DEBUG, effect_rules.called_by(called.equation)
    drop = staged_changes.of_jaxpr(resharded.at_equation(called.equation, resharded.dropped)) if is_debug else None
    sent = float(sum(row.total_sent or 0.0 for row in rows))
    yield Finding(
        FindingKind.HOST_TRANSFER,
        wording.gathered_for_callback(called.kind, name, max(row.payload for row in rows)),
        stakes.stake(program, StakeMeasure.SENT, sent),
        line=called.place.label,
        names=(name,) if name and called.kind != "debug_print" else (),
        change=CodeChange(wording.REDUCE_FIRST, stage=drop),
        certainty=Certainty.INFERRED,
        caveat=wording.TRIED_WITHOUT if is_debug else "",
        tab="effects",
    )


def _handed_on(called: _Called) -> Iterator[Finding]:
    name = effect_rules.called_by(called.equation)
    for value in jaxprs.variables(called.equation.invars):
        given = _given_by(value, called.makers)
        if given is not None and called.kind not in DEBUG and _bytes(value) >= LEAST_HANDED_ON:
            first = effect_rules.called_by(given)
            yield Finding(
                FindingKind.HOST_TRANSFER,
                wording.handed_on(first, name, _bytes(value)),
                Stake(StakeMeasure.HOST),
                line=called.place.label,
                names=tuple(filter(None, (first, name))),
                change=CodeChange(wording.one_callback(called.kind, first, name)),
                certainty=Certainty.ESTIMATED,
                caveat=wording.ONLY_WITHOUT_WORK_BETWEEN,
                tab="effects",
            )
            return


def _given_by(value: Any, makers: Mapping[Any, Any]) -> Any:
    """The callback that gives an array, or gives another that operations on each element make it of; None without."""
    size, todo, seen = math.prod(value.aval.shape), [value], set[Any]()
    while todo:
        var = todo.pop()
        eqn = None if var in seen else makers.get(var)
        seen.add(var)
        if eqn is None:
            continue
        if effect_rules.callback_kind(eqn):
            return eqn
        if not jaxprs.inner_jaxprs(eqn):
            todo += [each for each in jaxprs.variables(eqn.invars) if math.prod(each.aval.shape) == size]
    return None
