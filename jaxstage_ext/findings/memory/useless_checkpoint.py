"""`jax.checkpoint` around all that is differentiated: all is recomputed at once, and is live as without it."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.core.derivative.rematerialization import BACKWARD, FORWARD
from jaxstage_ext.core.jax_private import checkpoints
from jaxstage_ext.findings import code_change, equation_place, stakes
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory import missing_donation
from jaxstage_ext.findings.staged_changes import of_jaxpr
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import module_work
from jaxstage_ext.report.progress import Progress

_NEARLY_ALL = 0.9
"""Of what the backward pass reads, what one checkpoint recomputes."""
_LEAST_SHARE = 0.02
"""Of the FLOPs."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """The one checkpoint that recomputes nearly all that the backward pass reads."""
    every, kept = checkpoints.found(program.jax_traced.jaxpr.jaxpr)
    if not every:
        return []
    whole = max(every, key=lambda one: one.size)
    if not whole.keeps_nothing or whole.size < _NEARLY_ALL * (sum(one.size for one in every) + kept):
        return []
    stake = stakes.stake(program, StakeMeasure.FLOPS, _twice(program))
    if not stake.most or (stake.share is not None and stake.share < _LEAST_SHARE):
        return []
    return [
        Finding(
            FindingKind.USELESS_CHECKPOINT,
            wording.useless_checkpoint(whole.size),
            stake,
            line=equation_place.place(program, whole.eqn).label,
            change=code_change.change(wording.CHECKPOINT_EACH, "", of_jaxpr(checkpoints.without)),
            certainty=Certainty.ESTIMATED,
            caveat=wording.MEMORY_TOO,
            tab="memory",
        )
    ]


def _twice(program: Program) -> float:
    """FLOPs of what is computed again, by the scopes of the instructions; nothing of what the forward pass left out."""
    table = module_work.work(program).by("scope")
    scopes, flops = table.columns["scope"].values, np.asarray(table.columns["FLOPs"].values, float)
    again = np.array([checkpoints.RECOMPUTED in scope for scope in scopes], bool)
    first = np.array([FORWARD in scope and BACKWARD not in scope for scope in scopes], bool)
    return float(min(np.nansum(flops[again]), np.nansum(flops[first & ~again])))


DETECTOR = Detector(FindingKind.USELESS_CHECKPOINT, find, missing_donation.applies)
