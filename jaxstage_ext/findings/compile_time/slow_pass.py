"""Work on captured arrays that XLA's constant folding does while it compiles."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.core.derivative import constant_arguments
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.inputs.constant_equations import ConstantEquation, constant_equations
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import equation_place, stakes
from jaxstage_ext.findings.compile_time import compile_time_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_compiled, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.passes import passes
from jaxstage_ext.report.progress import Progress

LEAST = 1_000_000
"""Elements or multiplications below which folding takes no time that anyone notices."""
_SECONDS, _EMBEDDED = 100e-9, 50e-9
"""For each of them, at most, XLA's evaluator takes some tens of nanoseconds; for a byte of an array that it embeds."""
_FOLDING = "constant_folding"


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all that is folded."""
    closed = program.jax_traced.jaxpr
    folded = [one for one in constant_equations(closed) if one.steps >= LEAST]
    whole = stakes.figure(program, StakeMeasure.COMPILE)
    if not folded or whole is None:
        return []
    seconds = _pass_seconds(program)
    largest = max(folded, key=lambda one: one.steps)
    constants = [const for const in closed.consts if any(id(const) in one.constants for one in folded)]
    named = [names[0] if names else "" for names in captured.names(program.call.fn, constants)]
    names = tuple(dict.fromkeys(filter(None, named)))
    size = sum(int(np.size(const)) * int(const.dtype.itemsize) for const in constants)
    most = min(whole, sum(one.steps for one in folded) * _SECONDS + size * _EMBEDDED)
    return [
        Finding(
            FindingKind.SLOW_PASS,
            wording.folded(_operations(folded), names, size, seconds),
            stakes.stake(program, StakeMeasure.COMPILE, most),
            line=equation_place.place(program, largest.eqn).label,
            names=names,
            change=CodeChange(wording.compute_before(names), stage=functools.partial(_as_arguments, constants, named)),
            certainty=Certainty.ESTIMATED,
            caveat=wording.EACH_CALL_COMPUTES_IT,
            tab="passes",
        )
    ]


def _operations(folded: Sequence[ConstantEquation]) -> list[str]:
    return list(dict.fromkeys(one.eqn.primitive.name for one in sorted(folded, key=lambda one: -one.steps)))


def _pass_seconds(program: Program) -> float | None:
    """What the passes of that name take, where somebody has looked at the passes."""
    known = passes.known(program)
    seconds = [one.seconds for one in known or () if one.name == _FOLDING and one.seconds is not None]
    return sum(seconds) if seconds else None


def _as_arguments(constants: Sequence[Any], names: Sequence[str], staged: Staged) -> Staged:
    named = [name or f"constant {place}" for place, name in enumerate(names)]
    return constant_arguments.staged_with(staged, constants, named)


def _applies(program: Program) -> bool:
    return is_compiled(program) and is_traced(program)


DETECTOR = Detector(FindingKind.SLOW_PASS, find, _applies)
