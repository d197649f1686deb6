"""A call lowered with arrays that its function closes over as arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import lifted_constants
from jaxstage_ext.core.own_work import own_work
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.report.unavailable import Unavailable


def staged_with(staged: Staged, constants: Sequence[Any], names: Sequence[str]) -> Staged:
    """The call lowered with these constants of its jaxpr as its first arguments. Runs nothing of the user's.

    Raises Unavailable, with the reason, where they cannot be made arguments.
    """
    traced = unwrap(staged.value(TRACE))
    if not isinstance(traced, jax.stages.Traced):
        raise Unavailable("the program was not traced by JAX, so its constants cannot become arguments")
    with own_work():
        return rematerialization.lowered_anew(staged, lifted_constants.lifted(traced, constants, names))
