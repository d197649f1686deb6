"""Sums that a scan carries in a dtype whose precision its steps use up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxstage_ext.core.jax_private import jaxprs

_STEPS = {"bfloat16": 2**8, "float16": 2**11}
"""By dtype, after how many additions of equal numbers the next one changes nothing: 2 to the bits of the mantissa."""
_ADDS = ("add", "add_any", "sub")


class NarrowSum(NamedTuple):
    """One such sum."""

    eqn: Any
    """The addition, inside the scan."""
    dtype: str
    steps: int


def narrow_sums(jaxpr: Any) -> Iterator[NarrowSum]:
    """The sums of a jaxpr and of what it runs that nothing but additions change."""
    for one in jaxprs.all_jaxprs(jaxpr):
        for eqn in one.eqns:
            if eqn.primitive.name == "scan":
                yield from _of_scan(eqn)


def _of_scan(eqn: Any) -> Iterator[NarrowSum]:
    body, steps = getattr(eqn.params["jaxpr"], "jaxpr", eqn.params["jaxpr"]), eqn.params["length"]
    _, carried, _ = jaxprs.parts_of_scan(eqn.params, body.invars)
    made = jaxprs.makers(body)
    reads = [v for inner in body.eqns for v in jaxprs.variables(inner.invars)]
    for given, result in zip(carried, body.outvars, strict=False):
        inner = None if jaxprs.is_literal(result) else made.get(result)
        dtype = str(given.aval.dtype)
        is_sum = inner is not None and inner.primitive.name in _ADDS and given in inner.invars
        if is_sum and reads.count(given) == 1 and steps >= _STEPS.get(dtype, steps + 1):
            yield NarrowSum(inner, dtype, steps)
