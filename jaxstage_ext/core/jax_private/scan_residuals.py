"""What a differentiated scan stacks for its backward pass, and the jaxpr with `jax.checkpoint` around its body.

The backward scan then gets each iteration's carry, and computes the body's values anew from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax._src import core as _core
from jax._src.interpreters import partial_eval as _pe

from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.core.jax_private.jaxpr_edits import inlined, named, traced_equations
from jaxstage_ext.core.jax_private.rematerialized import renamed, with_equations, with_inner

_core_any: Any = _core
BACKWARD = "transpose("


@dataclass(frozen=True)
class StackedResiduals:
    """A scan of the forward pass and the one of its backward pass that reads what it stacks."""

    forward: Any
    backward: Any
    stacked: tuple[int, ...]
    """Which results of the forward scan only the backward scan reads, one slice an iteration."""
    recomputed: Any
    """The part of the body that computes them."""
    used: tuple[bool, ...]
    """Which of the body's arguments that part reads."""

    @property
    def carried(self) -> list[int]:
        """The arguments of the body that `jax.checkpoint` would stack instead: the carry that the part reads."""
        first, count = _counts(self.forward)
        return [at for at in range(first, first + count) if self.used[at]]

    @property
    def before(self) -> int:
        """Bytes that are stacked now, on all devices."""
        return sum(_bytes(self.forward.outvars[at].aval) for at in self.stacked)

    @property
    def after(self) -> int:
        """Bytes that would be stacked instead."""
        length = int(self.forward.params["length"])
        return sum(length * _bytes(self.forward.invars[at].aval) for at in self.carried)

    def makers(self) -> Iterator[tuple[Any, int]]:
        """The equations of the body that compute what is stacked, with its bytes, the most first."""
        body = _body(self.forward)
        made = jaxprs.makers(body)
        sized = ((body.outvars[at], _bytes(self.forward.outvars[at].aval)) for at in self.stacked)
        pairs = [(made[var], size) for var, size in sized if isinstance(var, _core.Var) and var in made]
        yield from sorted(pairs, key=lambda pair: -pair[1])


def found(jaxpr: Any) -> list[StackedResiduals]:
    """Those of a jaxpr and of all that its equations hold, whose body under `jax.checkpoint` would stack less."""
    every = jaxprs.all_jaxprs(jaxpr)
    if not any(eqn.primitive.name == "scan" for each in every for eqn in each.eqns):
        return []
    return [pair for each in every for pair in _pairs(inlined(each))]


def checkpointed(jaxpr: Any) -> Any:
    """The jaxpr with `jax.checkpoint` around the body of each such scan."""
    flat = inlined(jaxpr)
    if not _pairs(flat):
        flat = jaxpr
    eqns = [with_inner(eqn, checkpointed) for eqn in flat.eqns]
    if any(new is not old for new, old in zip(eqns, flat.eqns, strict=True)):
        flat = with_equations(flat, eqns, {})
    while pairs := _pairs(flat):
        flat = _rewritten(flat, pairs[0])
    return flat


def _pairs(jaxpr: Any) -> list[StackedResiduals]:
    scans = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "scan" and not eqn.effects]
    if len(scans) < 2:
        return []
    readers = jaxprs.readers(jaxpr)
    outs = set(jaxprs.variables(jaxpr.outvars))
    found = []
    for eqn in scans:
        if BACKWARD in tracebacks.name_stack(eqn):
            continue
        for back in scans:
            if BACKWARD in tracebacks.name_stack(back) and (pair := _pair(eqn, back, readers, outs)) is not None:
                found.append(pair)
    return found


def _pair(forward: Any, backward: Any, readers: dict[Any, list[Any]], outs: set[Any]) -> StackedResiduals | None:
    if forward.params["length"] != backward.params["length"]:
        return None
    first, count = _counts(backward)
    scanned = set(jaxprs.variables(backward.invars[first + count :]))
    whole = set(jaxprs.variables(backward.invars[: first + count]))
    carried = _counts(forward)[1]
    stacked = tuple(
        at
        for at, var in enumerate(forward.outvars)
        if at >= carried and var in scanned and var not in whole and var not in outs
        if all(reader is backward for reader in readers.get(var, ()))
    )
    body = _body(forward)
    if not stacked or body.constvars or _body(backward).constvars:
        return None
    part = body.replace(outvars=[body.outvars[at] for at in stacked], debug_info=body.debug_info.with_unknown_names())
    recomputed, _ = _pe.dce_jaxpr(part, [True] * len(stacked), instantiate=True)
    _, needed = _pe.dce_jaxpr(part, [True] * len(stacked))
    made = StackedResiduals(forward, backward, stacked, recomputed, tuple(needed))
    return made if made.after < made.before else None


def _rewritten(jaxpr: Any, pair: StackedResiduals) -> Any:
    """The jaxpr with both scans traced anew: what a scan's parameters are differs between versions of JAX."""
    names: dict[Any, Any] = {}
    eqns: list[Any] = []
    stacks: list[Any] = []
    for eqn in jaxpr.eqns:
        if eqn is pair.forward:
            made, outs = traced_equations(_stacking_carries(pair), eqn.invars, eqn)
            kept = [at for at in range(len(eqn.outvars)) if at not in pair.stacked]
            names |= {eqn.outvars[at]: out for at, out in zip(kept, outs[: len(kept)], strict=True)}
            stacks = outs[len(kept) :]
        elif eqn is pair.backward:
            given = [named(names, v) for v in (*eqn.invars, *pair.forward.invars)]
            made, outs = traced_equations(_recomputing(pair), [*given, *stacks], eqn)
            names |= dict(zip(eqn.outvars, outs, strict=True))
        else:
            made = [renamed(eqn, names)]
        eqns += made
    return with_equations(jaxpr, eqns, names)


def _stacking_carries(pair: StackedResiduals) -> Callable[..., Any]:
    """The forward scan that stacks carries instead of residuals."""
    eqn, body = pair.forward, _body(pair.forward)
    first, count = _counts(eqn)
    kept = [at for at in range(count, len(eqn.outvars)) if at not in pair.stacked]

    def function(*given: Any) -> Any:
        def step(carry: Any, scanned: Any) -> Any:
            inputs = [*given[:first], *carry, *scanned]
            made = _core_any.eval_jaxpr(body, [], *inputs)
            return made[:count], ([made[at] for at in kept], [inputs[at] for at in pair.carried])

        carry, (others, stacks) = _scan(step, eqn, given[first : first + count], given[first + count :])
        return [*carry, *others, *stacks]

    return function


def _recomputing(pair: StackedResiduals) -> Callable[..., Any]:
    """The backward scan that computes the residuals of its iteration, of the forward scan's operands and the stacks."""
    eqn, body, forward = pair.backward, _body(pair.backward), pair.forward
    first, count = _counts(eqn)
    own, carried = _counts(forward)
    residual_of = [
        next((i for i, at in enumerate(pair.stacked) if forward.outvars[at] is v), -1)
        for v in eqn.invars[first + count :]
    ]

    def function(*given: Any) -> Any:
        inputs, rest = given[: len(eqn.invars)], given[len(eqn.invars) :]
        outer, stacks = rest[: len(forward.invars)], rest[len(forward.invars) :]

        def step(carry: Any, scanned: Any) -> Any:
            slices, outer_slices, carries = scanned
            known: list[Any] = [*outer[:own], *[None] * carried, *outer_slices]
            for at, value in zip(pair.carried, carries, strict=True):
                known[at] = value
            residuals = _core_any.eval_jaxpr(pair.recomputed, [], *known)
            own_slices = iter(slices)
            all_slices = [next(own_slices) if at < 0 else residuals[at] for at in residual_of]
            made = _core_any.eval_jaxpr(body, [], *inputs[:first], *carry, *all_slices)
            return made[:count], made[count:]

        left = [v for v, at in zip(inputs[first + count :], residual_of, strict=True) if at < 0]
        scanned = (left, list(outer[own + carried :]), list(stacks))
        carry, others = _scan(step, eqn, inputs[first : first + count], scanned)
        return [*carry, *others]

    return function


def _scan(step: Callable[..., Any], eqn: Any, init: Sequence[Any], scanned: Any) -> Any:
    params = eqn.params
    return jax.lax.scan(
        step, list(init), scanned, int(params["length"]), reverse=params["reverse"], unroll=params["unroll"]
    )


def _body(eqn: Any) -> Any:
    return eqn.params["jaxpr"].jaxpr


def _counts(eqn: Any) -> tuple[int, int]:
    """(constants, values carried) of a scan: of what it scans over or stacks, an iteration has one slice."""
    body = _body(eqn)
    carried = sum(len(a.aval.shape) == len(b.aval.shape) for a, b in zip(eqn.outvars, body.outvars, strict=True))
    whole = sum(len(a.aval.shape) == len(b.aval.shape) for a, b in zip(eqn.invars, body.invars, strict=True))
    return whole - carried, carried


def _bytes(aval: Any) -> int:
    return int(np.prod(aval.shape)) * int(getattr(aval.dtype, "itemsize", 0))
