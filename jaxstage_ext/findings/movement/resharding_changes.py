"""Changes that may do without a resharding: an argument or a result sharded as it is used, a constraint left out."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from jax.sharding import NamedSharding

from jaxstage_ext.analysis.collectives.collective_causes import CauseKind, CollectiveCause
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.analysis.sharding.resharding_steps import Dims
from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import jaxprs, resharded, sharding_internals
from jaxstage_ext.core.jax_private.sharding_internals import ProgramValue
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import equation_place, staged_changes
from jaxstage_ext.findings.finding import CodeChange
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.findings.movement import spec_dims
from jaxstage_ext.findings.movement.tried_changes import Candidate
from jaxstage_ext.program.program import Program

_MOST_TRIED = 2
_MOST_ALIKE = 64
"""Arguments of one kind, such as a weight of each layer, that are changed together."""


def of(program: Program, rows: Sequence[CollectiveRow], line: str) -> Iterator[Candidate]:
    """The changes to try for collectives that are alike, what is likeliest first."""
    causes = [cause for row in rows for cause in row.causes if cause.kind is CauseKind.RESHARDING]
    if not causes:
        return
    values = sharding_internals.program_values(program.jax_lowered)
    axes = frozenset(axis.name for axis in rows[0].groups.axes or ())
    yield from _of_arguments(values, causes, axes)
    yield from _of_results(values, causes)
    yield from _of_constraints(program, causes, line)


def _of_arguments(
    values: Sequence[ProgramValue], causes: Sequence[CollectiveCause], axes: frozenset[str]
) -> Iterator[Candidate]:
    """Arguments that are used otherwise than they lie, but for state, which a result has the sharding of."""
    named = {name for cause in causes for name in cause.values}
    arguments = [value for value in values if not value.is_result]
    numbers = [at for at, value in enumerate(arguments) if value.name in named and not _is_state(value, values)]
    wanted = {use.spec for cause in causes for use in cause.after}
    if 0 < len(numbers) <= _MOST_ALIKE:
        for dims in _moved(arguments[numbers[0]], axes, wanted):
            yield from _sharded_so(arguments, numbers, dims)
        return
    wanted |= {spec for cause in causes for spec in cause.before}
    for number in _lying_so(arguments, wanted, values) if not numbers else ():
        for dims in _moved(arguments[number], axes, wanted):
            if spec_dims.text(dims) in wanted and any(dims):
                yield from _sharded_so(arguments, [number], dims)


def _sharded_so(arguments: Sequence[ProgramValue], numbers: Sequence[int], dims: Dims) -> Iterator[Candidate]:
    alike = [at for at in numbers if _can_be(arguments[at], dims)]
    shardings = {at: NamedSharding(arguments[at].sharding.mesh, spec_dims.spec(dims)) for at in alike}
    before = spec_dims.of_sharding(arguments[alike[0]].sharding, len(dims)) if alike else None
    if before is not None:
        names = tuple(arguments[at].name for at in alike)
        code = wording.shard_argument(names, spec_dims.text(dims), spec_dims.text(before))
        change = CodeChange(code, stage=functools.partial(_with_arguments, shardings))
        yield Candidate(change, names, caveat=wording.MADE_SO)


def _lying_so(arguments: Sequence[ProgramValue], specs: set[str], values: Sequence[ProgramValue]) -> list[int]:
    """The numbers of the largest arguments that lie in one of the shardings between which a value is moved."""
    fitting = []
    for at, one in enumerate(arguments):
        dims = spec_dims.of_sharding(one.sharding, len(one.aval.shape))
        if dims is not None and any(dims) and spec_dims.text(dims) in specs and not _is_state(one, values):
            fitting.append(at)
    return sorted(fitting, key=lambda at: -arguments[at].aval.size)[:_MOST_TRIED]


def _is_state(value: ProgramValue, values: Sequence[ProgramValue]) -> bool:
    """Whether a result may be the next call's argument."""
    kind = value.aval.shape, value.aval.dtype
    rank = len(value.aval.shape)
    return any(
        one.is_result
        and (one.aval.shape, one.aval.dtype) == kind
        and spec_dims.of_sharding(one.sharding, rank) == spec_dims.of_sharding(value.sharding, rank)
        for one in values
        if hasattr(one.aval, "shape") and one.sharding is not None
    )


def _moved(value: ProgramValue, axes: frozenset[str], wanted: set[str]) -> list[Dims]:
    """The sharding with the axes of the collective along another dimension, what the use wants first; without, last."""
    given = spec_dims.of_sharding(value.sharding, len(value.aval.shape))
    taken = [(dim, axis) for dim, held in enumerate(given or ()) for axis in held if axis in axes]
    if given is None or not taken:
        return []
    left = [tuple(axis for axis in held if axis not in axes) for held in given]
    along = tuple(axis for _, axis in taken)
    made = [
        tuple((*held, *along) if dim == to else held for dim, held in enumerate(left))
        for to in range(len(left))
        if to != taken[0][0]
    ]
    return [*sorted(made, key=lambda dims: spec_dims.text(dims) not in wanted), tuple(left)]


def _can_be(value: ProgramValue, dims: Dims) -> bool:
    """Whether an argument can be sharded so."""
    shape, sharding = value.aval.shape, value.sharding
    if not isinstance(sharding, NamedSharding) or len(shape) != len(dims):
        return False
    try:
        NamedSharding(sharding.mesh, spec_dims.spec(dims)).shard_shape(shape)
    except ValueError:
        return False
    return True


def _of_results(values: Sequence[ProgramValue], causes: Sequence[CollectiveCause]) -> Iterator[Candidate]:
    """A result whose sharding was asked for and that is resharded to it, but for state."""
    wanted = {use.spec for cause in causes for use in cause.after}
    results = [value for value in values if value.is_result]
    for number, value in enumerate(results):
        dims = spec_dims.of_sharding(value.sharding, len(getattr(value.aval, "shape", ())))
        if dims is None or spec_dims.text(dims) not in wanted or _is_next_argument(value, values):
            continue
        code = wording.free_result(value.name, spec_dims.text(dims))
        change = CodeChange(code, stage=functools.partial(_with_free_result, number))
        yield Candidate(change, (value.name,), caveat=wording.READ_SO)


def _is_next_argument(value: ProgramValue, values: Sequence[ProgramValue]) -> bool:
    rank = len(value.aval.shape)
    return any(
        not one.is_result
        and (one.aval.shape, one.aval.dtype) == (value.aval.shape, value.aval.dtype)
        and spec_dims.of_sharding(one.sharding, rank) == spec_dims.of_sharding(value.sharding, rank)
        for one in values
        if hasattr(one.aval, "shape")
    )


def _of_constraints(program: Program, causes: Sequence[CollectiveCause], line: str) -> Iterator[Candidate]:
    """Constraints to a sharding that the value has or is moved to, those of the line first."""
    wanted = {spec for cause in causes for spec in (*cause.before, *(use.spec for use in cause.after))}
    jaxpr = program.jax_traced.jaxpr.jaxpr
    every = [eqn for eqn, _ in jaxprs.nested_equations(jaxpr) if eqn.primitive.name == resharded.CONSTRAINT]
    made = [(eqn, spec_dims.of_sharding(eqn.params["sharding"], len(eqn.invars[0].aval.shape))) for eqn in every]
    fitting = [(eqn, spec_dims.text(dims)) for eqn, dims in made if dims is not None]
    fitting = [(eqn, spec) for eqn, spec in fitting if spec in wanted]
    places = equation_place.places(program, [eqn for eqn, _ in fitting])
    found = [(eqn, spec, place.label) for (eqn, spec), place in zip(fitting, places, strict=True)]
    for eqn, spec, at in sorted(found, key=lambda one: one[2] != line):
        change = staged_changes.of_jaxpr(resharded.at_equation(eqn, resharded.without))
        yield Candidate(CodeChange(wording.drop_constraint(spec, at), stage=change), line=at)


def _with_arguments(shardings: dict[int, Any], staged: Staged) -> Staged:
    traced = unwrap(staged.value(TRACE))
    for number, sharding in shardings.items():
        traced = resharded.with_argument(traced, number, sharding)
    return rematerialization.lowered_anew(staged, traced)


def _with_free_result(number: int, staged: Staged) -> Staged:
    return rematerialization.lowered_anew(staged, resharded.with_free_result(unwrap(staged.value(TRACE)), number))
