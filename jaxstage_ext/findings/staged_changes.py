"""Ways to make a changed call of a staged one, for the trial of a finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import rematerialized
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.stage_definition import COMPILE, TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.report.unavailable import Unavailable


def of_call(change: Callable[[Call], Call]) -> Callable[[Staged], Staged]:
    """The call with another function, other arguments or options, traced anew: its own Python runs once more."""

    def stage(staged: Staged) -> Staged:
        target = cross_compile.isolated(staged.target)
        [planned] = stages.plan_each(change(staged.call), COMPILE, (target,), staged.limits)
        return planned

    return stage


def of_jaxpr(change: Callable[[Any], Any]) -> Callable[[Staged], Staged]:
    """The traced call with its jaxpr changed: arguments, results, shardings and donation stay as they are."""

    def stage(staged: Staged) -> Staged:
        traced = unwrap(staged.value(TRACE))
        if not isinstance(traced, jax.stages.Traced):
            raise Unavailable("the program was not traced by JAX, so its jaxpr cannot be changed")
        return rematerialization.lowered_anew(staged, rematerialized.with_jaxpr(traced, change))

    return stage
