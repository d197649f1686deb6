"""Mesh axes over which nothing is sharded, so that the devices along them compute the same."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from jax.sharding import NamedSharding, PartitionSpec

from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import argument_shardings, jaxprs, resharded
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.head.call_arguments import CallArgument, call_arguments
from jaxstage_ext.program.program import Program

_LEAST_FLOPS = 1e9
"""On one device, below which sharing the work saves less than an exchange costs."""


def find(program: Program) -> list[Finding]:
    """At most one finding, of the largest axis."""
    traced = program.jax_traced
    shardings = argument_shardings.named(traced)
    meshes = [each.mesh for each in shardings if each is not None]
    flops = stakes.figure(program, StakeMeasure.FLOPS)
    if not meshes or flops is None or flops < _LEAST_FLOPS or not all(map(_is_automatic, shardings)):
        return []
    used = {axis for value in _values(traced.jaxpr.jaxpr, shardings, traced) for axis in _axes(value)}
    idle = {axis: int(size) for axis, size in meshes[0].shape.items() if size > 1 and axis not in used}
    if not idle:
        return []
    axis = max(idle, key=lambda name: idle[name])
    numbers = _batch(program, shardings, idle[axis])
    root = _arrays(program)[-1].name if numbers else ""
    whole = stakes.figure(program, of := _measure(program))
    return [
        Finding(
            FindingKind.EXTRA_FLOPS,
            wording.idle_axis(axis, idle[axis]),
            stakes.stake(program, of, None if whole is None else whole * (1 - 1 / idle[axis])),
            names=(root,) if root else (),
            change=CodeChange(
                wording.shard_batch(root, axis),
                stage=functools.partial(_sharded, meshes[0], axis, numbers) if numbers else None,
            ),
            certainty=Certainty.ESTIMATED,
            caveat=wording.NEEDS_A_BATCH,
            tab="shardings",
        )
    ]


def _measure(program: Program) -> StakeMeasure:
    is_timed = stakes.figure(program, StakeMeasure.TIME) is not None
    return StakeMeasure.TIME if is_timed else StakeMeasure.FLOPS


def _is_automatic(sharding: Any) -> bool:
    return sharding is None or argument_shardings.is_automatic(sharding)


def _values(jaxpr: Any, shardings: Sequence[Any], traced: Any) -> Iterator[Any]:
    """What may name mesh axes: shardings of arguments, results and values, and functions of devices' parts."""
    yield from shardings
    yield from argument_shardings.asked(traced)
    for eqn, _ in jaxprs.nested_equations(jaxpr):
        if eqn.primitive.name == resharded.CONSTRAINT:
            yield eqn.params["sharding"]
        elif eqn.primitive.name in ("shard_map", "custom_partitioning"):
            yield eqn.params.get("mesh") or next(each.mesh for each in shardings if each is not None)


def _axes(value: Any) -> set[str]:
    if isinstance(value, NamedSharding):
        parts = [part if isinstance(part, tuple) else (part,) for part in value.spec]
        return {axis for part in parts for axis in part if isinstance(axis, str)}
    return set(getattr(value, "axis_names", ()))


def _arrays(program: Program) -> list[CallArgument]:
    return [each for each in call_arguments(program) if not each.is_constant]


def _batch(program: Program, shardings: Sequence[Any], count: int) -> list[int]:
    """The numbers of the arrays of the last argument, where the axis divides their first dimension."""
    invars = program.jax_traced.jaxpr.jaxpr.invars
    arguments = _arrays(program)
    if len(arguments) < 2 or len(invars) != sum(len(each.types) for each in arguments):
        return []
    numbers = range(len(invars) - len(arguments[-1].types), len(invars))
    fits = [at for at in numbers if invars[at].aval.shape and invars[at].aval.shape[0] % count == 0]
    return [at for at in fits if shardings[at] is not None and not _axes(shardings[at])]


def _sharded(mesh: Any, axis: str, numbers: Sequence[int], staged: Staged) -> Staged:
    traced = unwrap(staged.value(TRACE))
    spec: Any = PartitionSpec(axis)  # type: ignore[no-untyped-call, unused-ignore]
    ins = dict.fromkeys(numbers, spec)
    return rematerialization.lowered_anew(staged, argument_shardings.with_shardings(traced, mesh, ins, {}))
