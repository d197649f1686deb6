"""Where a backward pass recomputes what `jax.checkpoint` did not keep, and the jaxpr without a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jax._src import core as _core

from jaxstage_ext.core.jax_private import jaxpr_edits, jaxprs, tracebacks

_NAMES = ("remat2", "remat", "checkpoint")
RECOMPUTED = "rematted_computation"
"""In the name scope of what is computed again."""
_BACKWARD = "transpose("


@dataclass(frozen=True)
class Recomputation:
    """The backward pass of one function under `jax.checkpoint`."""

    eqn: Any
    size: int
    """Bytes that it recomputes and reads, on all devices."""
    keeps_nothing: bool
    """Whether its policy keeps nothing of the forward pass."""


def found(jaxpr: Any) -> tuple[list[Recomputation], int]:
    """(those of a jaxpr, outside of loops; bytes of the forward pass that the rest of the backward pass reads)."""
    flat = jaxpr_edits.inlined(jaxpr)
    here = [eqn for eqn in flat.eqns if eqn.primitive.name in _NAMES and eqn.params.get("differentiated")]
    made, read = set[Any](), dict[Any, None]()
    for eqn in flat.eqns:
        if _BACKWARD in tracebacks.name_stack(eqn):
            read |= dict.fromkeys([] if eqn in here else jaxprs.variables(eqn.invars))
        else:
            made.update(eqn.outvars)
    kept = sum(_bytes(var) for var in read if var in made)
    return [Recomputation(eqn, _recomputed(eqn), _keeps_nothing(eqn)) for eqn in here], kept


def without(jaxpr: Any) -> Any:
    """The jaxpr with the backward passes of such functions as they are without `jax.checkpoint`.

    What they recompute is then the same as the forward pass has, which XLA computes once.
    """
    return jaxpr_edits.inlined(jaxpr, (*jaxpr_edits.CALLS, *_NAMES))


def _recomputed(eqn: Any) -> int:
    inner = jaxpr_edits.inlined(eqn.params["jaxpr"])
    again = {var for one in inner.eqns if RECOMPUTED in tracebacks.name_stack(one) for var in one.outvars}
    return sum(_bytes(var) for var in dict.fromkeys(_read_back(inner)) if var in again)


def _read_back(jaxpr: Any) -> Iterator[Any]:
    for eqn in jaxpr.eqns:
        if RECOMPUTED not in tracebacks.name_stack(eqn):
            yield from jaxprs.variables(eqn.invars)


def _keeps_nothing(eqn: Any) -> bool:
    policy = eqn.params.get("policy")
    return policy is None or getattr(policy, "__name__", "") == "nothing_saveable"


def _bytes(var: Any) -> int:
    if isinstance(var, _core.DropVar):
        return 0
    return int(var.aval.size) * int(getattr(var.aval.dtype, "itemsize", 0))
