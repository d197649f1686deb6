"""Operations beyond those that the result needs: by a mask, for the gradient once more, or on each device."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import jaxpr_cost
from jaxstage_ext.core.derivative import without_checkpoints
from jaxstage_ext.core.rewrites.causal_products import masked_products
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute import idle_mesh_axis
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector, is_compiled
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import useless_checkpoint
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.progress import Progress

_LEAST_MASKED, _LEAST_RECOMPUTED = 0.1, 0.05
"""Of the FLOPs of the program, from which on it is worth other code."""
_LEAST_FLOPS = 1e9
"""Recomputed FLOPs below which a checkpoint costs next to nothing, as in a small model that is tried out."""
_FULL = 0.5
"""Of the device's memory, above which recomputation may be needed."""
_RECOMPUTED = "rematted_computation"
"""JAX's name scope of what a checkpoint computes once more."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """Of devices that do the same, of causal masks, and of `jax.checkpoint` where there is memory enough without it.

    What `useless_checkpoint` says of a checkpoint is not said twice.
    """
    if program.jax_traced is None:
        return []
    own = (_masked(program), _recomputed(program))
    return [*idle_mesh_axis.find(program), *(one for one in own if one is not None)]


def _masked(program: Program) -> Finding | None:
    read = masked_products(program.jax_traced.jaxpr.jaxpr)
    if not read.equations or read.hidden < _LEAST_MASKED * work(program).total_flops * _devices(program):
        return None
    places = EquationPlaces(program)
    lines = list(dict.fromkeys(filter(None, map(places.line, read.masks))))
    hidden = read.hidden / _devices(program)
    return Finding(
        FindingKind.EXTRA_FLOPS,
        wording.masked(len(read.equations), read.hidden / read.flops),
        stakes.stake(program, StakeMeasure.FLOPS, hidden, 0.0),
        line=lines[0] if lines else "",
        rows={"jaxpr": places.rows(read.equations)},
        change=CodeChange(wording.without_masked(program.platform)),
        certainty=Certainty.ESTIMATED,
        tab="cost",
    )


def _devices(program: Program) -> int:
    """Of how many devices the jaxpr is the work."""
    return max(1, program_devices.device_count(program))


def _recomputed(program: Program) -> Finding | None:
    if not without_checkpoints.has_checkpoint(program.jax_traced.jaxpr.jaxpr):
        return None
    counted, fit = work(program), device_fit(program)
    if fit.needed is None or fit.room is None or fit.needed > _FULL * fit.room:
        return None
    members, flops = counted.parts.member, np.nan_to_num(counted.counted(counted.parts.flops))
    is_again = _is_again(program)[members]
    again = float(flops[is_again].sum()) - _merged(program)
    if again < max(_LEAST_RECOMPUTED * counted.total_flops, _LEAST_FLOPS) or useless_checkpoint.find(program):
        return None
    lines = [counted.places.line[member] for member in members[is_again][np.argsort(-flops[is_again])].tolist()]
    jaxpr = program.jax_traced.jaxpr.jaxpr
    can_try = without_checkpoints.outside_of_loops(jaxpr)
    return Finding(
        FindingKind.EXTRA_FLOPS,
        wording.recomputed(again / counted.total_flops, fit.needed / fit.room),
        stakes.stake(program, StakeMeasure.FLOPS, again, 0.0),
        line=next(filter(None, lines), ""),
        rows={"hlo": tuple(sorted({int(row) for row in counted.places.row[members[is_again]] if row >= 0}))},
        change=CodeChange(
            wording.without_checkpoint(),
            stage=staged_changes.of_jaxpr(without_checkpoints.without_checkpoints) if can_try else None,
        ),
        certainty=Certainty.ESTIMATED,
        caveat=wording.TAKES_MEMORY,
        tab="cost",
    )


def _merged(program: Program) -> float:
    """FLOPs of the jaxpr that XLA computes once for several equations, such as a recomputation and what it repeats."""
    traced = jaxpr_cost.total(program.jax_traced.jaxpr).flops / _devices(program)
    return max(0.0, traced - work(program).total_flops)


def _is_again(program: Program) -> npt.NDArray[np.bool_]:
    module = program.module
    named = np.array([_RECOMPUTED in scope for scope in module.scopes] + [False])
    return named[module.scope]


DETECTOR = Detector(FindingKind.EXTRA_FLOPS, find, is_compiled)
