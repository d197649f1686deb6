"""Random numbers that are the same on all devices of a `shard_map`, and meet values that differ between these.

JAX itself marks the place: `pvary` makes a value that no device has of its own one that may differ.
Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.jax_private.jaxpr_edits import CALLS

_DRAWS = ("random_bits", "rng_bit_generator", "threefry2x32")
_BY_ELEMENT = ("add", "sub", "mul", "div", "max", "min", "select_n", "add_any")


class AlikeDraw(NamedTuple):
    """A draw that is the same on several devices."""

    eqn: Any
    """The equation that draws."""
    axis: str
    devices: int


def found(jaxpr: Any) -> Iterator[AlikeDraw]:
    """Those that are added to, multiplied by or select parts of a batch; weights that are drawn are no such."""
    for outer in jaxprs.all_jaxprs(jaxpr):
        for eqn in outer.eqns:
            if eqn.primitive.name == "shard_map":
                [body] = jaxprs.inner_jaxprs(eqn)
                yield from _in_body(body, _batch_axes(eqn), {})


def _batch_axes(eqn: Any) -> dict[str, int]:
    """The mesh axes, with their sizes, over which the first dimension of an argument is sharded."""
    firsts = [spec[0] for spec in eqn.params["in_specs"] if len(spec)]
    names = {name for first in firsts for name in (first if isinstance(first, tuple) else (first,)) if name}
    return {name: size for name in names if (size := int(eqn.params["mesh"].shape[name])) > 1}


def _in_body(body: Any, axes: Mapping[str, int], given: Mapping[Any, Any]) -> Iterator[AlikeDraw]:
    """`given` are the draws that make arguments of a function that the body calls."""
    makers = jaxprs.makers(body)
    for eqn in body.eqns:
        drawn = [_drawn_by(value, makers, given) for value in eqn.invars]
        if eqn.primitive.name in CALLS and any(drawn):
            [inner] = jaxprs.inner_jaxprs(eqn)
            own = {var: draw for var, draw in zip(inner.invars, drawn, strict=True) if draw is not None}
            yield from _in_body(inner, axes, own)
        axis = next((name for name in eqn.params.get("axes", ()) if name in axes), "")
        if eqn.primitive.name != "pvary" or not axis or not eqn.outvars[0].aval.shape or drawn[0] is None:
            continue
        if _meets_elements(body, eqn.outvars[0]):
            yield AlikeDraw(drawn[0], axis, axes[axis])


def _drawn_by(value: Any, makers: Mapping[Any, Any], given: Mapping[Any, Any]) -> Any:
    """The equation that draws what a value of its shape is made of; None without one."""
    shape, todo, seen = value.aval.shape, jaxprs.variables([value]), set[Any]()
    while todo:
        var = todo.pop()
        if var in given:
            return given[var]
        eqn = None if var in seen else makers.get(var)
        seen.add(var)
        if eqn is None or eqn.primitive.name == "pvary":
            continue
        if eqn.primitive.name in _DRAWS or any(one.primitive.name in _DRAWS for one in _inner(eqn)):
            return eqn
        todo += [each for each in jaxprs.variables(eqn.invars) if each.aval.shape == shape]
    return None


def _inner(eqn: Any) -> Iterator[Any]:
    return (one for held in jaxprs.inner_jaxprs(eqn) for one, _ in jaxprs.nested_equations(held))


def _meets_elements(body: Any, value: Any) -> bool:
    """Whether another value, element by element, is all that reads it."""
    readers = [eqn for eqn in body.eqns if value in jaxprs.variables(eqn.invars)]
    return bool(readers) and all(_is_by_element(eqn, value) for eqn in readers)


def _is_by_element(eqn: Any, value: Any) -> bool:
    if eqn.primitive.name in CALLS:
        inner = list(_inner(eqn))
        return len(inner) < 8 and any(one.primitive.name == "select_n" for one in inner)
    return eqn.primitive.name in _BY_ELEMENT and eqn.outvars[0].aval.shape == value.aval.shape
