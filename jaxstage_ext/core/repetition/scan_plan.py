"""How a run of equal bodies becomes one `scan`: what is carried, what is stacked, and what all bodies read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.repetition.body_operands import BodyOperands, BodyValue, OutsideValue
from jaxstage_ext.core.repetition.equation_kinds import starts
from jaxstage_ext.core.repetition.repeated_bodies import RepeatedBody
from jaxstage_ext.report.unavailable import Unavailable


@dataclass(frozen=True)
class MadeValue:
    """A value of a body, by its equation and the number among that one's results."""

    row: int
    result: int


@dataclass(frozen=True)
class CarriedValue:
    """The number of a value that the scan carries."""

    number: int


@dataclass(frozen=True)
class StackedValue:
    """The number of a value that the scan takes slice by slice."""

    number: int


@dataclass(frozen=True)
class SharedValue:
    """A value from before the run that all bodies read."""

    atom: Any


Source = MadeValue | CarriedValue | StackedValue | SharedValue


@dataclass
class ScanPlan:
    """A run of bodies as a scan."""

    run: RepeatedBody
    bodies: list[list[Any]]
    """The equations of each."""
    sources: list[list[Source]] = field(default_factory=list)
    """Of each equation of a body what its operands are."""
    initial: list[Any] = field(default_factory=list)
    """Of what is carried, the values from before the run."""
    carried: list[MadeValue] = field(default_factory=list)
    """Of what is carried, what each body makes of it."""
    stacked: list[list[Any]] = field(default_factory=list)
    """Of what is stacked the value for each body; of an equation that is computed before the run, that equation."""
    hoisted: dict[int, int] = field(default_factory=dict)
    """The equations of a body that differ in where they slice, and so run before: the number of what they make."""


def scan_plan(run: RepeatedBody) -> ScanPlan:
    """The plan for a run. Raises Unavailable where bodies slice what they make in different places, or have effects."""
    eqns = run.jaxpr.eqns[run.first : run.first + run.length * run.count]
    if any(eqn.effects for eqn in eqns):
        raise Unavailable("the bodies have side effects, which a trial leaves alone")
    plan = ScanPlan(run, [list(eqns[at : at + run.length]) for at in range(0, len(eqns), run.length)])
    _hoist(plan)
    slots = iter(zip(*BodyOperands(run.jaxpr).run(run.first, run.length, run.count), strict=True))
    atoms = iter(zip(*([atom for eqn in body for atom in eqn.invars] for body in plan.bodies), strict=True))
    numbers: dict[Any, Source] = {}
    for row, eqn in enumerate(plan.bodies[0]):
        given = [(next(slots), next(atoms)) for _ in eqn.invars]
        plan.sources.append([] if row in plan.hoisted else [_source(plan, *one, numbers) for one in given])
    return plan


def _source(plan: ScanPlan, slots: Sequence[Any], atoms: Sequence[Any], numbers: dict[Any, Source]) -> Source:
    """What an operand of a body is, numbered the first time that one like it is seen."""
    last = slots[-1]
    if isinstance(last, OutsideValue):
        if all(slot == last for slot in slots):
            return SharedValue(atoms[-1])
        return _numbered(numbers, tuple(slots), lambda: _stack(plan, list(atoms)))
    assert isinstance(last, BodyValue)
    if last.row >= 0:
        return StackedValue(plan.hoisted[last.row]) if last.row in plan.hoisted else MadeValue(last.row, last.result)
    row = last.row + plan.run.length
    if row in plan.hoisted:
        raise Unavailable("a body reads a slice of the body before it, which is another in each")
    return _numbered(numbers, (last, slots[0]), lambda: _carry(plan, atoms[0], MadeValue(row, last.result)))


def _numbered(numbers: dict[Any, Source], key: Any, make: Any) -> Source:
    if key not in numbers:
        numbers[key] = make()
    return numbers[key]


def _stack(plan: ScanPlan, values: list[Any]) -> StackedValue:
    plan.stacked.append(values)
    return StackedValue(len(plan.stacked) - 1)


def _carry(plan: ScanPlan, initial: Any, made: MadeValue) -> CarriedValue:
    plan.initial.append(initial)
    plan.carried.append(made)
    return CarriedValue(len(plan.carried) - 1)


def _hoist(plan: ScanPlan) -> None:
    """Find the equations that slice in another place in each body: of values from before the run, and so before it."""
    inside = {var for body in plan.bodies for eqn in body for var in eqn.outvars}
    for row, alike in enumerate(zip(*plan.bodies, strict=True)):
        if all(starts(eqn) == starts(alike[0]) for eqn in alike):
            continue
        if any(atom in inside for eqn in alike for atom in eqn.invars if not jaxprs.is_literal(atom)):
            raise Unavailable("the bodies slice what they compute, each in another place")
        plan.hoisted[row] = _stack(plan, list(alike)).number
