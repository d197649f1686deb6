"""Values that every device gets whole because XLA's partitioner knows no direct way from one sharding to another."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from jax.sharding import NamedSharding

from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.sharding import resharding_steps
from jaxstage_ext.analysis.sharding.partitioner_warnings import Rematerialised
from jaxstage_ext.core.jax_private import jaxprs, resharded, sharding_internals
from jaxstage_ext.findings import equation_place, staged_changes, stakes
from jaxstage_ext.findings.detector import Detector, Need
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.movement import (
    alike_collectives,
    callback_data,
    constraint_edits,
    resharding_changes,
    spec_dims,
    tried_changes,
)
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.findings.movement.tried_changes import Candidate
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import collectives as exchanged
from jaxstage_ext.report.progress import Progress

_MOST_TRIALS = 4


class _Reader(NamedTuple):
    """An equation that reads the value."""

    equation: Any
    operand: int
    place: EquationPlace


def has_collectives(program: Program) -> bool:
    """Whether devices exchange anything, so that a value may be gathered."""
    return program.has_hlo and program.jax_traced is not None and bool(exchanged.count(program))


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each way between two shardings that XLA does not know."""
    found = exchanged.collectives(program, progress)
    alike: dict[tuple[str, str, str], list[Rematerialised]] = {}
    for_callback = callback_data.gathers(program)
    for warning in found.warnings:
        if for_callback and _is_for_callback(warning):
            continue
        alike.setdefault((warning.line, warning.before, warning.after), []).append(warning)
    budget = tried_changes.TrialBudget(_MOST_TRIALS)
    return [_finding(program, found, warnings, budget) for warnings in alike.values()]


def _finding(
    program: Program, found: Collectives, warnings: Sequence[Rematerialised], budget: tried_changes.TrialBudget
) -> Finding:
    first = warnings[0]
    readers, of = _readers(program, first), tried_changes.measure(program)
    gathers = [row for row in found.rows if any(first.before in cause.before for cause in row.causes)]
    none = Finding(
        FindingKind.FULL_REMATERIALISATION,
        wording.rematerialised(first.before, first.after, first.shard, len(warnings)),
        stakes.stake(program, of, alike_collectives.amount(gathers, of)),
        line=first.line or next((one.place.label for one in readers if one.place.label), ""),
        rows={"hlo": alike_collectives.document_rows(found, gathers)},
        names=tuple(dict.fromkeys(warning.value for warning in warnings)),
        certainty=Certainty.ESTIMATED,
        tab="collectives",
    )

    def finding(candidate: Candidate) -> Finding:
        names, line = candidate.names or none.names, candidate.line or none.line
        return replace(none, names=names, line=line, caveat=candidate.caveat)

    changes = itertools.chain(_changes(program, first, readers), resharding_changes.of(program, gathers, none.line))
    return tried_changes.best(program, budget, changes, finding, 0.0) or none


def _is_for_callback(warning: Rematerialised) -> bool:
    """Whether a value goes to one device, where callbacks run; HOST_TRANSFER tells that."""
    return warning.ends is not None and warning.ends[1].is_known and warning.ends[1].holders.size == 1


def _readers(program: Program, warning: Rematerialised) -> list[_Reader]:
    """The equations that may read the value with the other sharding: constraints to that, and those of its line."""
    jaxpr, maker = program.jax_traced.jaxpr.jaxpr, warning.scope.rpartition("/")[2] or warning.value
    pairs = [pair for outer in jaxprs.all_jaxprs(jaxpr) for pair in _reading(outer, maker)]
    places = equation_place.places(program, [eqn for eqn, _ in pairs])
    readers = [_Reader(*pair, place) for pair, place in zip(pairs, places, strict=True)]
    asking = [one for one in readers if _asks_for(one, warning.after)]
    at_line = [one for one in readers if warning.line and one.place.label == warning.line and one not in asking]
    return [*asking, *at_line] or (readers if len(readers) == 1 else [])


def _reading(jaxpr: Any, maker: str) -> Iterator[tuple[Any, int]]:
    """Equations and the numbers of their operands that a primitive, or an argument, of that name gives."""
    names = zip(jaxpr.invars, jaxpr.debug_info.arg_names or (), strict=False)
    made = {id(var) for eqn in jaxpr.eqns if eqn.primitive.name == maker for var in eqn.outvars}
    made |= {id(var) for var, name in names if name == maker}
    return ((eqn, at) for eqn in jaxpr.eqns for at, var in enumerate(eqn.invars) if id(var) in made)


def _asks_for(reader: _Reader, spec: str) -> bool:
    eqn = reader.equation
    if eqn.primitive.name != resharded.CONSTRAINT:
        return False
    dims = spec_dims.of_sharding(eqn.params["sharding"], len(eqn.invars[0].aval.shape))
    return dims is not None and spec_dims.text(dims) == spec


def _changes(program: Program, warning: Rematerialised, readers: Sequence[_Reader]) -> Iterator[Candidate]:
    before, after = map(spec_dims.of_slices, warning.ends) if warning.ends else (None, None)
    for eqn, operand, place in readers:
        mesh = _mesh(program, eqn)
        if before is None or after is None or mesh is None:
            return
        steps = resharding_steps.between(before, after, dict(mesh.shape), eqn.invars[operand].aval.shape)
        if not steps:
            continue
        shardings = [NamedSharding(mesh, spec_dims.spec(dims)) for dims in steps]
        change = resharded.at_equation(eqn, functools.partial(_through, operand, shardings))
        specs = [spec_dims.text(dims) for dims in steps]
        diff = constraint_edits.before(program, place, specs)
        code = diff or wording.constrain_first(specs, warning.after)
        yield Candidate(CodeChange(code, bool(diff), staged_changes.of_jaxpr(change)))


def _through(operand: int, shardings: Sequence[Any], jaxpr: Any, eqn: Any) -> Any:
    return resharded.through(jaxpr, eqn, operand, shardings)


def _mesh(program: Program, eqn: Any) -> Any:
    """The mesh of a constraint, or of the first argument that has one."""
    given = [
        eqn.params.get("sharding"),
        *(one.sharding for one in sharding_internals.program_values(program.jax_lowered)),
    ]
    return next((one.mesh for one in given if isinstance(one, NamedSharding)), None)


DETECTOR = Detector(FindingKind.FULL_REMATERIALISATION, find, has_collectives, (Need.CAUSES, Need.TRIAL))
