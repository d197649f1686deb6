"""A jaxpr whose results are converted to other dtypes, and the equations that compute its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jax._src import core as _core
from jax._src.lax import lax as _lax

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.jax_private.jaxpr_edits import CALLS


def converted(jaxpr: Any, dtypes: Mapping[int, Any]) -> Any:
    """The jaxpr with some of its results, by number, converted."""
    outs, added = list(jaxpr.outvars), []
    for number, dtype in dtypes.items():
        params = {"new_dtype": dtype, "weak_type": False, "sharding": None}
        made = _core.Var(outs[number].aval.update(dtype=dtype, weak_type=False))
        added.append(_core.new_jaxpr_eqn([outs[number]], [made], _lax.convert_element_type_p, params, _core.no_effects))
        outs[number] = made
    return jaxpr.replace(outvars=outs, eqns=[*jaxpr.eqns, *added], debug_info=jaxpr.debug_info)


def maker(jaxpr: Any, number: int) -> Any:
    """The equation that computes a result, inside of jitted functions too; None where it is an argument."""
    var = jaxpr.outvars[number]
    eqn = next((each for each in jaxpr.eqns if any(var is out for out in each.outvars)), None)
    if eqn is not None and eqn.primitive.name in CALLS:
        [inner] = jaxprs.inner_jaxprs(eqn)
        return maker(inner, next(at for at, out in enumerate(eqn.outvars) if out is var)) or eqn
    return eqn
