"""Parameters and optimiser state of which each device of a data axis holds a whole copy."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jax.sharding import PartitionSpec

from jaxstage_ext.analysis.memory import memory_advice
from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import argument_shardings
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import code_change, jit_site, stakes
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory import missing_donation, new_values
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import memory
from jaxstage_ext.report.progress import Progress

LEAST = 16 << 20
"""Bytes on one device."""
_LEAST_SHARE = 0.25
"""Of the memory needed: below that, sharding the state is not worth its collectives."""
_GATHERED = 2
"""Parameters that a device holds whole at a time, of which one is used and the next one gathered."""

_spec: Any = PartitionSpec  # untyped


class _Leaf(NamedTuple):
    """An array of the state that is replicated over the axis."""

    name: str
    size: int
    """Bytes on one device."""
    argument: int
    result: int
    spec: PartitionSpec
    """With the axis."""


def applies(program: Program) -> bool:
    """Whether it runs on several devices."""
    if not missing_donation.applies(program) or (entry := memory.entry(program)) is None:
        return False
    traced = program.jax_traced
    return len(entry.arguments) == len(traced.jaxpr.jaxpr.invars) and any(argument_shardings.named(traced))


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for the axis that the batch is sharded over."""
    shardings = argument_shardings.named(program.jax_traced)
    pairs, entry = new_values.pairs(program), memory.entry(program)
    if not pairs or entry is None:
        return []
    number = {argument.name: at for at, argument in enumerate(entry.arguments)}
    state = {number[pair.argument.name] for pair in pairs}
    batches = [sharding for at, sharding in enumerate(shardings) if at not in state and sharding is not None]
    axis, mesh = _data_axis(batches)
    if mesh is None:
        return []
    leaves = list(filter(None, (_leaf(program, pair, number, shardings, mesh, axis) for pair in pairs)))
    count, held = int(mesh.shape[axis]), sum(leaf.size for leaf in leaves)
    names = {leaf.name for leaf in leaves}
    kept = [pair.argument for pair in pairs if pair.argument.name in names and not pair.argument.becomes]
    twice = sum(argument.size or 0 for argument in kept)
    computed = min(stakes.temporaries(program) or 0.0, held)  # gradients and updates have the shardings of the state
    stake = stakes.stake(program, StakeMeasure.MEMORY, (held + twice + computed) * (1 - 1 / count))
    gathered = sum(sorted((leaf.size for leaf in leaves), reverse=True)[:_GATHERED])
    likely = (held - gathered + twice + computed) * (1 - 1 / count)
    if held < LEAST or (stake.whole and likely < _LEAST_SHARE * stake.whole):
        return []
    roots = tuple(dict.fromkeys(memory_advice.parameter(leaf.name) for leaf in leaves))
    site = jit_site.find(program)
    can = all(argument_shardings.is_automatic(sharding) for sharding in batches)
    return [
        Finding(
            FindingKind.REPLICATED_STATE,
            wording.replicated_state(roots, axis, count, held),
            stake,
            line=jit_site.label(program, site.file, site.line) if site is not None else "",
            names=roots,
            change=code_change.change(
                wording.shard_state(roots, axis, count), "", functools.partial(_sharded, mesh, leaves) if can else None
            ),
            certainty=Certainty.ESTIMATED,
            caveat=wording.OTHER_COLLECTIVES,
            tab="shardings",
        )
    ]


def _data_axis(batches: Sequence[Any]) -> tuple[str, Any]:
    """(axis over which the first dimension of an argument is sharded, its mesh); ("", None) without one."""
    for sharding in batches:
        for axis in _axes(sharding.spec[0]) if len(sharding.spec) else ():
            if int(sharding.mesh.shape[axis]) > 1:
                return axis, sharding.mesh
    return "", None


def _axes(part: Any) -> tuple[str, ...]:
    if part is None or part is PartitionSpec.UNCONSTRAINED:
        return ()
    return tuple(part) if isinstance(part, tuple) else (part,)


def _leaf(
    program: Program,
    pair: new_values.NewValue,
    number: Mapping[str, int],
    shardings: Sequence[Any],
    mesh: Any,
    axis: str,
) -> _Leaf | None:
    at = number[pair.argument.name]
    aval, sharding, size = program.jax_traced.jaxpr.jaxpr.invars[at].aval, shardings[at], pair.argument.size or 0
    entry = memory.entry(program)
    whole = entry.arguments[at].size if entry is not None else None
    spec = list(sharding.spec) if sharding is not None else []
    if any(axis in _axes(part) for part in spec) or (sharding is None and whole and size < whole):
        return None
    spec += [None] * (len(aval.shape) - len(spec))
    parts = [_parts(mesh, part) for part in spec]
    fitting = [d for d, length in enumerate(aval.shape) if length % (parts[d] * int(mesh.shape[axis])) == 0 and length]
    if not fitting:
        return None
    best = max(fitting, key=lambda d: (spec[d] is None, aval.shape[d]))
    spec[best] = axis if spec[best] is None else (*_axes(spec[best]), axis)
    results = entry.results if entry is not None else ()
    return _Leaf(pair.argument.name, size, at, results.index(pair.result.name), _spec(*spec))


def _parts(mesh: Any, part: Any) -> int:
    made = 1
    for axis in _axes(part):
        made *= int(mesh.shape[axis])
    return made


def _sharded(mesh: Any, leaves: Sequence[_Leaf], staged: Staged) -> Staged:
    ins = {leaf.argument: leaf.spec for leaf in leaves}
    outs = {leaf.result: leaf.spec for leaf in leaves}
    traced = unwrap(staged.value(TRACE))
    return rematerialization.lowered_anew(staged, argument_shardings.with_shardings(traced, mesh, ins, outs))


DETECTOR = Detector(FindingKind.REPLICATED_STATE, find, applies)
