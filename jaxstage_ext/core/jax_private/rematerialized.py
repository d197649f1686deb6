"""The equations of a forward pass under `jax.checkpoint` and a policy, and jaxprs with some equations replaced.

`jax.checkpoint` splits a function by its policy (`partial_eval_jaxpr_custom`), and its lowering puts an optimization
barrier before what is recomputed, so that XLA does not merge it with the forward pass (`jax/_src/ad_checkpoint.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax._src import core as _core
from jax._src.interpreters import partial_eval as _pe
from jax._src.lax import lax as _lax

from jaxstage_ext.core.jax_private.jaxprs import forward_jaxpr


@dataclass(frozen=True)
class SplitForward:
    """A forward pass under a policy."""

    known: list[Any]
    """The equations that run in the forward pass."""
    staged: list[Any]
    """A barrier, and the equations that recompute what is not saved."""
    outputs: dict[Any, Any]
    """The names that `known` gives the values that are read outside of the backward pass."""
    read_back: dict[Any, Any]
    """The names under which the backward pass finds the values that it reads."""


def split_forward(
    forward: Sequence[Any], wanted: Sequence[Any], used: Sequence[Any], others: Sequence[Any], jaxpr: Any, policy: Any
) -> SplitForward:
    """The `forward` equations of a jaxpr under a policy.

    `wanted` and `used` are those of their values that the backward pass reads, and that anything else reads; `others`
    are values that the backward pass reads and that other equations make.
    """
    outs = [*wanted, *used]
    whole = forward_jaxpr(jaxpr, forward, outs)
    free = whole.invars
    known, staged, _, _, count = _pe.partial_eval_jaxpr_custom(
        whole, [False] * len(free), [True] * len(free), False, True, policy
    )
    staged, _ = _pe.dce_jaxpr(staged, [i < len(wanted) for i in range(len(outs))], instantiate=True)
    staged, needed = _pe.dce_jaxpr(_forwarded(staged), [True] * len(wanted))
    residuals = [v for v, is_needed in zip(known.outvars[len(outs) :], needed[:count], strict=True) if is_needed]
    inputs = [v for v, is_needed in zip(free, needed[count:], strict=True) if is_needed]
    outputs = dict(zip(used, known.outvars[len(wanted) : len(outs)], strict=True))
    known, _ = _pe.dce_jaxpr(known, [i >= len(wanted) for i in range(len(outs))] + list(needed[:count]))
    wall, behind = barrier([*residuals, *inputs, *others])
    given = {v: behind[outer] for v, outer in zip(staged.invars, [*residuals, *inputs], strict=True)}
    fresh = {v: _core.Var(v.aval) for eqn in staged.eqns for v in eqn.outvars if not isinstance(v, _core.DropVar)}
    names = {**given, **fresh}
    recomputed = {value: _name(names, out) for value, out in zip(wanted, staged.outvars, strict=True)}
    steps = [renamed(eqn, names, fresh) for eqn in staged.eqns]
    return SplitForward(
        _rounded(known.eqns, residuals), [wall, *steps], outputs, {v: behind[v] for v in others} | recomputed
    )


def _forwarded(jaxpr: Any) -> Any:
    """The jaxpr with what scans only hand on, slice by slice, taken from where they have it."""
    sources: dict[Any, Any] = {}
    equations = []
    for eqn in jaxpr.eqns:
        equations.append(renamed(eqn, sources))
        if eqn.primitive.name == "scan":
            sources |= _handed_on(equations[-1])
    return with_equations(jaxpr, equations, sources)


def _handed_on(scan: Any) -> dict[Any, Any]:
    """The stacked results of a scan whose slices are those of a value that it scans over."""
    body = scan.params["jaxpr"].jaxpr
    scanned = {v: given for v, given in zip(body.invars, scan.invars, strict=True) if _is_slice(v, given)}
    outs = zip(body.outvars, scan.outvars, strict=True)
    return {outer: scanned[v] for v, outer in outs if isinstance(v, _core.Var) and v in scanned and _is_slice(v, outer)}


def _is_slice(inner: Any, outer: Any) -> bool:
    return len(inner.aval.shape) < len(outer.aval.shape)


def _rounded(equations: Sequence[Any], saved: Sequence[Any]) -> list[Any]:
    """The equations with saved values rounded to their own precision before others read them, as JAX does.

    XLA would otherwise compute with more bits than it saves (jax-ml/jax#22244).
    """
    read = {v for eqn in equations for v in eqn.invars if isinstance(v, _core.Var)}
    rounded = {v for v in saved if v in read and jnp.issubdtype(v.aval.dtype, jnp.inexact)}
    result = []
    for eqn in equations:
        exact = {v: _core.Var(v.aval) for v in eqn.outvars if v in rounded}
        result.append(renamed(eqn, {}, exact))
        for value, source in exact.items():
            bits: Any = jnp.finfo(value.aval.dtype)  # type: ignore[no-untyped-call]
            params = {"exponent_bits": bits.nexp, "mantissa_bits": bits.nmant}
            made = ([source], [value], _lax.reduce_precision_p, params, _core.no_effects, eqn.source_info, eqn.ctx)
            result.append(_core.new_jaxpr_eqn(*made))
    return result


def barrier(values: Sequence[Any]) -> tuple[Any, dict[Any, Any]]:
    """(an optimization barrier over some values, the name of each behind it)."""
    behind = {value: _core.Var(value.aval) for value in values if isinstance(value, _core.Var)}
    wall = _core.new_jaxpr_eqn([*behind], [*behind.values()], _lax.optimization_barrier_p, {}, _core.no_effects)
    return wall, behind


def renamed(eqn: Any, read: dict[Any, Any], made: dict[Any, Any] | None = None) -> Any:
    """An equation that reads, and makes, its values under other names."""
    made = made or {}
    return eqn.replace(invars=[_name(read, v) for v in eqn.invars], outvars=[made.get(v, v) for v in eqn.outvars])


def _name(names: dict[Any, Any], atom: Any) -> Any:
    return names.get(atom, atom) if isinstance(atom, _core.Var) else atom


def with_equations(jaxpr: Any, equations: Sequence[Any], outputs: dict[Any, Any]) -> Any:
    """A jaxpr with other equations, and its results under the names that these give them."""
    outvars = [_name(outputs, v) for v in jaxpr.outvars]
    return jaxpr.replace(eqns=list(equations), outvars=outvars, debug_info=jaxpr.debug_info)


def with_inner(eqn: Any, change: Callable[[Any], Any]) -> Any:
    """An equation with each jaxpr that it holds changed."""
    params = {name: _changed(value, change) for name, value in eqn.params.items()}
    return eqn if all(params[name] is value for name, value in eqn.params.items()) else eqn.replace(params=params)


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if type(value) is tuple:
        parts = tuple(_changed(part, change) for part in value)
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    if isinstance(value, _core.Jaxpr):
        return change(value)
    if hasattr(value, "eqns") and hasattr(value, "jaxpr"):  # a ClosedJaxpr, before jax 0.12
        inner = change(value.jaxpr)
        return value if inner is value.jaxpr else value.replace(jaxpr=inner)
    return value


def is_well_formed(jaxpr: Any) -> bool:
    """Whether every value is made before it is read."""
    known = {*jaxpr.constvars, *jaxpr.invars}
    for eqn in jaxpr.eqns:
        if any(isinstance(v, _core.Var) and v not in known for v in eqn.invars):
            return False
        known.update(eqn.outvars)
    return all(v in known for v in jaxpr.outvars if isinstance(v, _core.Var))


def with_donated(traced: Any, numbers: Collection[int]) -> Any:
    """The trace of a call with more of its arguments donated, by their numbers; captured arrays come before them."""
    made = copy.copy(traced)
    given = list(traced._params["donated_invars"])
    first = len(given) - len(traced.jaxpr.jaxpr.debug_info.arg_names or given)
    for number in numbers:
        given[max(first, 0) + number] = True
    made._params = traced._params | {"donated_invars": tuple(given)}
    made._lojax = None
    return made


def with_jaxpr(traced: Any, change: Callable[[Any], Any]) -> Any:
    """The trace of a call with its jaxpr changed; arguments, results, shardings and donation stay as they are."""
    made = copy.copy(traced)
    made._params = traced._params | {"jaxpr": _changed(traced._params["jaxpr"], change)}
    made._lojax = None
    return made
