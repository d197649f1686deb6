"""A jaxpr with its short scan bodies unrolled, so that a GPU is given fewer and larger kernels."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.report.unavailable import Unavailable

STEPS = 8
"""Iterations in one."""
_LEAST, _MOST_EQUATIONS = 4 * STEPS, 200


def unrolled(jaxpr: Any) -> Any:
    """The jaxpr with STEPS iterations of such scans in one. Raises Unavailable where there is none."""
    if not can_unroll(jaxpr):
        raise Unavailable("no scan has a short body and many iterations")
    return _rewritten(jaxpr)


def can_unroll(jaxpr: Any) -> bool:
    """Whether there is such a scan."""
    return any(_is_short(eqn) for one in jaxprs.all_jaxprs(jaxpr) for eqn in one.eqns)


def _rewritten(jaxpr: Any) -> Any:
    equations = [_unrolled(rematerialized.with_inner(eqn, _rewritten)) for eqn in jaxpr.eqns]
    same = all(new is old for new, old in zip(equations, jaxpr.eqns, strict=True))
    return jaxpr if same else rematerialized.with_equations(jaxpr, equations, {})


def _unrolled(eqn: Any) -> Any:
    return eqn.replace(params=eqn.params | {"unroll": STEPS}) if _is_short(eqn) else eqn


def _is_short(eqn: Any) -> bool:
    """Whether a scan holds no other loop, and few equations."""
    if eqn.primitive.name != "scan" or eqn.params["length"] < _LEAST or eqn.params["unroll"] != 1:
        return False
    inner = [one for held in jaxprs.inner_jaxprs(eqn) for body in jaxprs.all_jaxprs(held) for one in body.eqns]
    return len(inner) <= _MOST_EQUATIONS and all(one.primitive.name not in ("scan", "while") for one in inner)
