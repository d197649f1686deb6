"""A call lowered with arguments donated that its function does not donate."""

from __future__ import annotations

import warnings
from collections.abc import Collection

import jax

from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import rematerialized
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.report.unavailable import Unavailable


def staged_with(staged: Staged, numbers: Collection[int]) -> Staged:
    """The call lowered with these arguments donated too, by their numbers among all arrays that it is given.

    Raises Unavailable where JAX did not trace it.
    """
    traced = unwrap(staged.value(TRACE))
    if not isinstance(traced, jax.stages.Traced):
        raise Unavailable("the program was not traced by JAX, so it cannot be compiled with a donation")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX warns of a donation that no result can use, which the trial tells
        return rematerialization.lowered_anew(staged, rematerialized.with_donated(traced, numbers))
