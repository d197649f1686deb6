"""Scatters that a GPU adds up in another order in each run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax.numpy as jnp

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import equation_place, staged_changes, stakes, trial
from jaxstage_ext.findings.calls import calls_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, Need, is_compiled, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.trial import Trial
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable

_ORDERED = ("scatter-add", "scatter-sub", "scatter-mul")
"""Scatters whose result depends on the order where an index repeats, which atomic operations leave open."""
_EXCLUDED = "xla_gpu_exclude_nondeterministic_ops"
_TRITON = "xla_gpu_enable_triton_gemm"
_FIXED = (_EXCLUDED, "xla_gpu_deterministic_ops")


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all of them, compared with the program that XLA makes without such operations."""
    scatters = list(_scatters(program))
    if not scatters:
        return []
    stage, before, after = _in_fixed_order(program)
    seconds = [stakes.figure(one, StakeMeasure.TIME) for one in (before, after)]
    names = list(dict.fromkeys(eqn.primitive.name for eqn in scatters))
    finding = Finding(
        FindingKind.NONDETERMINISTIC,
        wording.nondeterministic(len(scatters), names, *seconds),
        Stake(StakeMeasure.REPEATABILITY),
        line=equation_place.place(program, max(scatters, key=_updates)).label,
        change=CodeChange(wording.with_option(program.name, _EXCLUDED), stage=stage),
        certainty=Certainty.COUNTED,
        caveat=wording.UNIQUE,
    )
    if Trial(finding, before, after).is_same_hlo:
        return []
    trial.keep(program, finding, after)
    return [finding]


def _scatters(program: Program) -> Iterator[Any]:
    for eqn, _ in jaxprs.nested_equations(program.jax_traced.jaxpr):
        is_open = eqn.primitive.name in _ORDERED and not eqn.params.get("unique_indices") and _updates(eqn) > 1
        if is_open and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.inexact):
            yield eqn


def _updates(eqn: Any) -> int:
    """How many places of the operand are updated, each by its index; of a batch, whose rows never meet, in one row."""
    indices, batch = eqn.invars[1].aval.shape[:-1], eqn.params["dimension_numbers"].scatter_indices_batching_dims
    return math.prod(int(size) for dim, size in enumerate(indices) if dim not in batch)


def _in_fixed_order(program: Program) -> tuple[Callable[[Staged], Staged], Program, Program]:
    """(what makes the change, the program that the changed one differs from in that alone, the changed one).

    Without a GPU XLA finds no kernel of Triton for a matrix product in a fixed order: then both go without Triton.
    """
    fixed = _with_options({_EXCLUDED: True})
    try:
        return fixed, program, trial.changed_program(program, fixed)
    except Unavailable:
        fixed = _with_options({_EXCLUDED: True, _TRITON: False})
        before = trial.changed_program(program, _with_options({_TRITON: False}))
        return fixed, before, trial.changed_program(program, fixed)


def _with_options(options: dict[str, bool]) -> Callable[[Staged], Staged]:
    def changed(call: Call) -> Call:
        return replace(call, compiler_options={**call.compiler_options, **options})

    return staged_changes.of_call(changed)


def _applies(program: Program) -> bool:
    if not (is_compiled(program) and is_traced(program)) or program.platform != "gpu":
        return False
    set_already = {*program.call.compiler_options, *os.environ.get("XLA_FLAGS", "").replace("=", " ").split()}
    return not any(name.removeprefix("--") in _FIXED for name in set_already)


DETECTOR = Detector(FindingKind.NONDETERMINISTIC, find, _applies, (Need.TRIAL,))
