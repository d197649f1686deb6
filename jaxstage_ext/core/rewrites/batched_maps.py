"""A jaxpr with its maps over elements, scans that hand nothing on, as maps over batches of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.jax_private.rewritten import EquationWriter, traced_anew
from jaxstage_ext.report.unavailable import Unavailable

BATCH = 128
"""Elements in one iteration."""
_LOOPS = frozenset({"scan", "while", "cond"})
_WRITER = EquationWriter()


def maps(jaxpr: Any) -> list[Any]:
    """The equations of such scans whose body has no loop or branch of its own, at any depth."""
    return [eqn for one in jaxprs.all_jaxprs(jaxpr) for eqn in one.eqns if _is_map(eqn)]


def batched(jaxpr: Any) -> Any:
    """The jaxpr with them as `jax.lax.map` with a batch size. Raises Unavailable where there is none."""
    if not maps(jaxpr):
        raise Unavailable("no scan is a map over its elements")
    return _rewritten(jaxpr)


def _is_map(eqn: Any) -> bool:
    if eqn.primitive.name != "scan" or eqn.params["length"] <= BATCH or eqn.effects:
        return False
    _, carry, over = jaxprs.parts_of_scan(eqn.params, eqn.invars)
    inner = (one for held in jaxprs.inner_jaxprs(eqn) for body in jaxprs.all_jaxprs(held) for one in body.eqns)
    return not carry and bool(over) and all(one.primitive.name not in _LOOPS for one in inner)


def _rewritten(jaxpr: Any) -> Any:
    return traced_anew(jaxpr, lambda arrays: jaxprs.evaluated(jaxpr, arrays, _results)) if maps(jaxpr) else jaxpr


def _results(eqn: Any, read: Callable[[Any], Any]) -> list[Any]:
    given = list(map(read, eqn.invars))
    return (
        _mapped(eqn, given) if _is_map(eqn) else _WRITER.apply(rematerialized.with_inner(eqn, _rewritten), given, None)
    )


def _mapped(eqn: Any, given: Sequence[Any]) -> list[Any]:
    fixed, _, over = jaxprs.parts_of_scan(eqn.params, given)
    body = jaxprs.jaxpr_as_fun(eqn.params["jaxpr"])
    return list(jax.lax.map(lambda one: tuple(body(*fixed, *one)), tuple(over), batch_size=BATCH))
