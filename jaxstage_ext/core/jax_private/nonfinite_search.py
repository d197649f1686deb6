"""JAX's checks for NaN and infinities, and which equation makes the first: the equations are run one by one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax._src import api as _api
from jax._src import core as _core

from jaxstage_ext.core.jax_private import jaxprs

_CALLS = ("jit", "pjit", "closed_call", "core_call", "checkpoint", "remat2", "custom_jvp_call", "custom_vjp_call")
"""Primitives that run the jaxpr that they hold once, on their own inputs."""
_JAXPRS = ("jaxpr", "call_jaxpr", "fun_jaxpr")
_MOST_STEPS = 1000
"""Of a while loop, which may run long."""
Wrong = Callable[[Any], bool]


class _Found(Exception):
    def __init__(self, eqn: Any) -> None:
        super().__init__("found")
        self.eqn = eqn


def first_nonfinite(jaxpr: Any, flat: Sequence[Any], nans: bool, infs: bool) -> Any:
    """The equation whose result has the first NaN, or infinity; None where there is none.

    `flat` are the leaves of the arguments. Loops run step by step, the first steps of a while loop.
    """
    with kept_nan_checks(), jax.debug_nans(False), jax.debug_infs(False):
        try:
            _run(jaxpr.jaxpr, jaxpr.consts, flat, lambda value: _has(value, nans, infs))
        except _Found as found:
            return found.eqn
    return None


def is_nonfinite(value: Any, nans: bool, infs: bool) -> bool:
    """Whether an array has a NaN, or an infinity."""
    with kept_nan_checks(), jax.debug_nans(False), jax.debug_infs(False):
        return _has(value, nans, infs)


def _has(value: Any, nans: bool, infs: bool) -> bool:
    if not jnp.issubdtype(getattr(value, "dtype", jnp.int32), jnp.inexact):
        return False
    return bool((nans and jnp.isnan(value).any()) or (infs and jnp.isinf(value).any()))


def _run(jaxpr: Any, consts: Sequence[Any], flat: Sequence[Any], wrong: Wrong) -> list[Any]:
    values: dict[Any, Any] = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *flat), strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, _core.Literal) else values[atom]

    for eqn in jaxpr.eqns:
        made = _made(eqn, [read(atom) for atom in eqn.invars], wrong)
        if any(map(wrong, made)):
            _run_inside(eqn, [read(atom) for atom in eqn.invars], wrong)
            raise _Found(eqn)
        values.update(zip(eqn.outvars, made, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _made(eqn: Any, inputs: list[Any], wrong: Wrong) -> list[Any]:
    inner = next((eqn.params[name] for name in _JAXPRS if name in eqn.params), None)
    if eqn.primitive.name in _CALLS and inner is not None and len(getattr(inner, "jaxpr", inner).invars) == len(inputs):
        return _run(getattr(inner, "jaxpr", inner), getattr(inner, "consts", ()), inputs, wrong)
    with eqn.ctx.manager:
        made = eqn.primitive.bind(*inputs, **eqn.primitive.get_bind_params(eqn.params))
    return list(made) if eqn.primitive.multiple_results else [made]


def _run_inside(eqn: Any, inputs: list[Any], wrong: Wrong) -> None:
    """Run a loop or a branch step by step, which raises _Found where an equation in it is the one."""
    params, name = eqn.params, eqn.primitive.name
    if name == "scan":
        _run_scan(params, inputs, wrong)
    elif name == "cond":
        branch = params["branches"][min(max(int(inputs[0]), 0), len(params["branches"]) - 1)]
        _run(branch.jaxpr, branch.consts, inputs[1:], wrong)
    elif name == "while":
        _run_while(params, inputs, wrong)


def _run_scan(params: Any, inputs: list[Any], wrong: Wrong) -> None:
    body = params["jaxpr"]
    consts, carry, over = jaxprs.parts_of_scan(params, inputs)
    for step in range(params["length"])[:: -1 if params["reverse"] else 1]:
        made = _run(body.jaxpr, body.consts, [*consts, *carry, *(one[step] for one in over)], wrong)
        carry = made[: len(carry)]


def _run_while(params: Any, inputs: list[Any], wrong: Wrong) -> None:
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    of_test, of_body = params["cond_nconsts"], params["body_nconsts"]
    tested, fixed, carry = inputs[:of_test], inputs[of_test : of_test + of_body], inputs[of_test + of_body :]
    for _ in range(_MOST_STEPS):
        if not bool(_run(test.jaxpr, test.consts, [*tested, *carry], wrong)[0]):
            return
        carry = _run(body.jaxpr, body.consts, [*fixed, *carry], wrong)


_hook: Any = getattr(_api, "_post_hook_state", None)


@contextlib.contextmanager
def kept_nan_checks() -> Iterator[None]:
    """After the block this thread's calls are checked as before it.

    A `with jax.debug_nans(...)` block sets the thread's own check when it ends, to none, and that hides the one that
    `jax.config.update` has set for all threads. JAX has such blocks in jnp.var, logsumexp, jaxpr_as_fun and others, so
    tracing alone would end the checks.
    """
    if _hook is None:
        yield
        return
    before = _hook.get_local()
    try:
        yield
    finally:
        _hook.set_local(before)
