"""Jacobians in the mode that takes more derivatives: of many results by reverse mode, of many arguments by forward."""

from __future__ import annotations

from collections.abc import Callable

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import jacobians, tracing
from jaxstage_ext.core.jax_private.jacobians import Jacobian
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program

_LEAST, _TIMES = 64, 4
"""Derivatives below which either mode will do, and how many times as many as the other mode takes."""
_LEAST_FLOPS = 1e7


def find(program: Program) -> list[Finding]:
    """One finding for each such Jacobian."""
    every = jacobians.found(program.jax_traced.jaxpr.jaxpr)
    worse = [one for one in every if one.passes >= max(_LEAST, _TIMES * one.others)]
    whole = stakes.figure(program, StakeMeasure.FLOPS) if worse else None
    if whole is None or whole < _LEAST_FLOPS:
        return []
    return [_finding(program, one, whole, len(every) == 1) for one in worse]


def _finding(program: Program, one: Jacobian, whole: float, is_alone: bool) -> Finding:
    fn = program.call.fn
    name = jacobians.differentiated(fn) if is_alone else ""
    return Finding(
        FindingKind.CHEAPER_FORM,
        wording.jacobian(one.is_reverse, one.passes, one.others),
        stakes.stake(program, StakeMeasure.FLOPS, whole * (1 - one.others / one.passes), 0.0),
        line=EquationPlaces(program).line(one.equation),
        change=CodeChange(wording.other_mode(one.is_reverse, name or "f"), stage=_stage(program) if is_alone else None),
        certainty=Certainty.ESTIMATED,
        tab="cost",
    )


def _stage(program: Program) -> Callable[[Staged], Staged] | None:
    call = program.call
    if jacobians.in_other_mode(call.fn) is None:
        return None

    def changed(call: Call) -> Call:
        other = jacobians.in_other_mode(call.fn)
        assert other is not None
        options = tracing.jit_options(call.fn)
        return Call(jax.jit(other, **options), call.args, call.kwargs, call.name, cell=call.cell, texts=call.texts)

    return staged_changes.of_call(changed)
