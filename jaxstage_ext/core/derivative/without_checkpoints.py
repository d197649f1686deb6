"""A jaxpr without `jax.checkpoint`: what a backward pass recomputed, XLA merges with the forward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.jax_private.rewritten import EquationWriter, traced_anew
from jaxstage_ext.report.unavailable import Unavailable

CHECKPOINTS = frozenset({"checkpoint", "remat", "remat2"})
_LOOPS = frozenset({"scan", "while", "cond"})
_WRITER = EquationWriter()


def has_checkpoint(jaxpr: Any) -> bool:
    """Whether there is one at any depth."""
    return any(eqn.primitive.name in CHECKPOINTS for one in jaxprs.all_jaxprs(jaxpr) for eqn in one.eqns)


def outside_of_loops(jaxpr: Any) -> bool:
    """Whether a checkpoint is in no loop: one in a scan recomputes in another loop than that of the forward pass."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in CHECKPOINTS:
            return True
        if eqn.primitive.name not in _LOOPS and any(map(outside_of_loops, jaxprs.inner_jaxprs(eqn))):
            return True
    return False


def without_checkpoints(jaxpr: Any) -> Any:
    """The jaxpr with what is under a checkpoint in its place. Raises Unavailable where all are in loops."""
    if not outside_of_loops(jaxpr):
        raise Unavailable("there is no jax.checkpoint outside of loops")
    return _rewritten(jaxpr)


def _rewritten(jaxpr: Any) -> Any:
    if not outside_of_loops(jaxpr):
        return jaxpr
    return traced_anew(jaxpr, lambda arrays: jaxprs.evaluated(jaxpr, arrays, _results))


def _results(eqn: Any, read: Callable[[Any], Any]) -> list[Any]:
    given = list(map(read, eqn.invars))
    if eqn.primitive.name in CHECKPOINTS:
        return jaxprs.evaluated(getattr(eqn.params["jaxpr"], "jaxpr", eqn.params["jaxpr"]), given, _results)
    changed = eqn if eqn.primitive.name in _LOOPS else rematerialized.with_inner(eqn, _rewritten)
    return _WRITER.apply(changed, given, None)
