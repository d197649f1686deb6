"""What goes to the host and back many times in one run, and results that host memory has to hold."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxstage_ext.core import equation_runs
from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import (
    copies_in_turn,
    effect_rules,
    jaxprs,
    loop_bodies,
    resharded,
    sharding_internals,
)
from jaxstage_ext.core.jax_private.sharding_internals import ProgramValue
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import equation_place, staged_changes, stakes
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.movement import callback_data
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.program.behaviour.effects import effects, effects_of_values
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

LEAST_FETCHED = 1 << 20
"""Bytes of a device's memory that are worth copying in parts."""
LEAST_RUNS = 16
"""In one run; a callback for each of a few layers or steps is meant."""
_KERNELS = frozenset({"pallas_call", "core_map"})
_CHECKS = "equinox._errors"
_NOT_ON_HOST = "HostOffloadOutputLocationMismatch"


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """Callbacks in loops and of large arrays; arrays that a loop fetches each time; a result refused for its memory."""
    return [
        *_callbacks(program),
        *callback_data.find(program),
        *_fetched(program),
        *_fetched_whole(program),
        *_refused(program),
    ]


def _callbacks(program: Program) -> Iterator[Finding]:
    """One finding for each line that calls Python in a loop of known length; what a library checks is left out."""
    jaxpr = program.jax_traced.jaxpr.jaxpr
    called = [
        (eqn, kind, times)
        for eqn, (times, why) in equation_runs.equation_runs(jaxpr, _KERNELS)
        if (kind := effect_rules.callback_kind(eqn)) and not why and times >= LEAST_RUNS
    ]
    called = [one for one in called if getattr(effect_rules.called_function(one[0]), "__module__", "") != _CHECKS]
    for (eqn, kind, times), place in zip(
        called, equation_place.places(program, [one[0] for one in called]), strict=True
    ):
        name = effect_rules.called_by(eqn)
        drop = (
            staged_changes.of_jaxpr(resharded.at_equation(eqn, resharded.dropped))
            if kind in callback_data.DEBUG
            else None
        )
        yield Finding(
            FindingKind.HOST_TRANSFER,
            wording.called_in_loop(kind, name, times),
            Stake(StakeMeasure.HOST),
            line=place.label,
            rows={"jaxpr": _rows(program, place.label)},
            names=(name,) if name and "fmt" not in eqn.params else (),
            change=CodeChange(wording.call_less(kind, name), stage=drop),
            caveat=wording.TRIED_WITHOUT if drop else "",
            tab="effects",
        )


def _rows(program: Program, line: str) -> tuple[int, ...]:
    table = effects(program)
    return tuple(row for row, at in zip(table["row"], table["line"], strict=True) if at == line and row >= 0)


def _fetched(program: Program) -> Iterator[Finding]:
    """Arrays in the host's memory that every iteration of a loop copies whole to the device."""
    jaxpr, on_host = program.jax_traced.jaxpr.jaxpr, _arguments_on_host(program)
    for loop, (times, why) in list(equation_runs.equation_runs(jaxpr, _KERNELS)):
        if loop.primitive.name != "scan" or why or not times:
            continue
        length, body = int(loop.params["length"]), loop_bodies.body_of(loop)
        given = zip(loop_bodies.fixed(loop), loop_bodies.fixed_given(loop), strict=True)
        fixed = {inner: id(outer) in on_host for inner, outer in given}
        fetches = [eqn for eqn in body.eqns if not fixed.keys().isdisjoint(jaxprs.variables(eqn.invars[:1]))]
        fetches = [eqn for eqn in fetches if _is_fetch(eqn, fixed)]
        for eqn, place in zip(fetches, equation_place.places(program, fetches), strict=True) if length > 1 else ():
            size = float(eqn.invars[0].aval.size * eqn.invars[0].aval.dtype.itemsize)
            yield Finding(
                FindingKind.HOST_TRANSFER,
                wording.fetched_in_loop(size, length * times),
                Stake(StakeMeasure.MOVED, 0.0, size * (length - 1) * times),
                line=place.label,
                rows={"jaxpr": _rows(program, place.label)},
                change=CodeChange(wording.FETCH_ONCE),
                certainty=Certainty.ESTIMATED,
                caveat=wording.HELD_MEANWHILE,
                tab="effects",
            )


def _fetched_whole(program: Program) -> Iterator[Finding]:
    """Arrays in the host's memory that are copied whole before loops that read one part of them in each iteration."""
    jaxpr, on_host = program.jax_traced.jaxpr.jaxpr, _arguments_on_host(program)
    copies = [eqn for eqn in jaxpr.eqns if on_host and eqn.primitive.name == "device_put"]
    copies = [eqn for eqn in copies if not any(map(effect_rules.on_host, eqn.params["devices"]))]
    for copy, place in zip(copies, equation_place.places(program, copies), strict=True):
        arrays = [given for given, _ in copies_in_turn.read_in_turn(jaxpr, copy) if id(given) in on_host]
        size = sum(math.prod(one.aval.shape) * one.aval.dtype.itemsize for one in arrays)
        parts = min((one.aval.shape[0] for one in arrays), default=1)
        if size < LEAST_FETCHED or parts < 2:
            continue
        change = staged_changes.of_jaxpr(resharded.at_equation(copy, copies_in_turn.moved_into_scans))
        yield Finding(
            FindingKind.HOST_TRANSFER,
            wording.fetched_whole(size, parts),
            stakes.stake(program, StakeMeasure.MEMORY, float(size)),
            line=place.label,
            rows={"jaxpr": _rows(program, place.label)},
            change=CodeChange(wording.FETCH_IN_TURN, stage=change),
            certainty=Certainty.ESTIMATED,
            caveat=wording.WAITS_FOR_PARTS,
            tab="effects",
        )


def _is_fetch(eqn: Any, on_host: Mapping[Any, bool]) -> bool:
    """Whether an equation takes an array out of the host's memory; JAX may not say so of arguments."""
    if eqn.primitive.name != "device_put" or any(map(effect_rules.on_host, eqn.params["devices"])):
        return False
    return on_host[eqn.invars[0]] or effect_rules.on_host(getattr(eqn.invars[0].aval, "memory_space", None))


def _arguments_on_host(program: Program) -> set[int]:
    """The ids of the jaxpr's variables of arguments that lie in the host's memory."""
    if program.jax_lowered is None:
        return set()
    invars = program.jax_traced.jaxpr.jaxpr.invars
    values = [one for one in sharding_internals.program_values(program.jax_lowered) if not one.is_result]
    own = zip(reversed(invars), reversed(values), strict=False)  # what is captured comes first
    return {id(var) for var, value in own if sharding_internals.is_on_host(value.sharding)}


def _refused(program: Program) -> Iterator[Finding]:
    """A result that is computed in the host's memory, and that XLA does not return from there unless it is asked to."""
    error = program.error
    if error is None or _NOT_ON_HOST not in error.message or not effects_of_values(program):
        return
    values = sharding_internals.program_values(program.jax_lowered)
    on_host = [one for one in values if not one.is_result and sharding_internals.is_on_host(one.sharding)]
    results = [one for one in values if one.is_result]
    alike = {at: host for at, one in enumerate(results) if (host := _like(one, on_host)) is not None}
    if not alike:
        return
    outvars = program.jax_traced.jaxpr.jaxpr.outvars
    maker = jaxprs.makers(program.jax_traced.jaxpr.jaxpr)
    made = [maker[var] for var in jaxprs.variables([outvars[at] for at in alike]) if var in maker]
    place = next(iter(equation_place.places(program, made)), EquationPlace())
    names = tuple(dict.fromkeys(host.name for host in alike.values()))
    yield Finding(
        FindingKind.HOST_TRANSFER,
        wording.result_on_host(names),
        Stake(StakeMeasure.RESULT),
        line=place.label,
        names=names,
        change=CodeChange(wording.keep_on_host(names[0]), stage=functools.partial(_with_results, alike)),
        certainty=Certainty.ESTIMATED,
        tab="effects",
    )


def _like(result: ProgramValue, arguments: Sequence[ProgramValue]) -> ProgramValue | None:
    kind = result.aval.shape, result.aval.dtype
    return next((one for one in arguments if (one.aval.shape, one.aval.dtype) == kind), None)


def _with_results(alike: dict[int, ProgramValue], staged: Staged) -> Staged:
    traced = unwrap(staged.value(TRACE))
    for number, host in alike.items():
        traced = resharded.with_result(traced, number, host.sharding)
    return rematerialization.lowered_anew(staged, traced)


DETECTOR = Detector(FindingKind.HOST_TRANSFER, find, is_traced)
