"""A jaxpr in which a loop over pieces computes the equations around its largest values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.jax_private.rewritten import EquationWriter, traced_anew
from jaxstage_ext.core.rewrites import piecewise
from jaxstage_ext.core.rewrites.dimension_links import params_of_piece
from jaxstage_ext.core.rewrites.piecewise import Piecewise
from jaxstage_ext.report.unavailable import Unavailable

_COMBINED = {"add": jnp.add, "max": jnp.maximum, "min": jnp.minimum}
_WRITER = EquationWriter()


def in_pieces(jaxpr: Any, size: int) -> Any:
    """The jaxpr with a loop over pieces for each group. Raises Unavailable where there is none."""
    if not piecewise.found(jaxpr, size):
        raise Unavailable("no equations around its largest values can be computed in pieces")
    return _rewritten(jaxpr, size)


def _rewritten(jaxpr: Any, size: int) -> Any:
    flat = piecewise.without_calls(jaxpr)
    groups = piecewise.groups_of(flat, size) or []
    if not groups and all(
        not piecewise.groups_of(inner, size) for eqn in flat.eqns for inner in piecewise.levels_inside(eqn)
    ):
        return jaxpr
    return traced_anew(flat, lambda arrays: _run(flat, groups, arrays, size))


def _run(jaxpr: Any, groups: Sequence[Piecewise], arrays: Sequence[Any], size: int) -> list[Any]:
    known: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], arrays, strict=True))
    group_of = {at: group for group in groups for at in group.links}
    todo = list(jaxpr.eqns)
    done: set[int] = set()
    while todo:
        later, moved = [], False
        for eqn in todo:
            group = group_of.get(id(eqn))
            if id(eqn) in done:
                moved = True
            elif any(v not in known for v in _needs(eqn, group)):
                later.append(eqn)
            elif group is None:
                changed = (
                    rematerialized.with_inner(eqn, lambda own: _rewritten(own, size))
                    if piecewise.holds_jaxprs(eqn)
                    else eqn
                )
                made = _WRITER.apply(changed, [_read(known, atom) for atom in eqn.invars], None)
                known.update(zip(eqn.outvars, made, strict=True))
                moved = True
            else:
                known.update(_computed(jaxpr, group, known))
                done |= set(group.links)
                moved = True
        if not moved:
            raise Unavailable("the equations around its largest values depend on what is computed of them")
        todo = later
    return [_read(known, atom) for atom in jaxpr.outvars]


def _needs(eqn: Any, group: Piecewise | None) -> Iterator[Any]:
    if group is None:
        yield from jaxprs.variables(eqn.invars)
        return
    made = {v for each in group.equations for v in each.outvars}
    yield from (v for each in group.equations for v in jaxprs.variables(each.invars) if v not in made)


def _read(known: dict[Any, Any], atom: Any) -> Any:
    return atom.val if jaxprs.is_literal(atom) else known[atom]


def _computed(jaxpr: Any, group: Piecewise, known: dict[Any, Any]) -> dict[Any, Any]:
    """What the equations of a group make, by a loop over its pieces."""
    steps = [group.links[id(eqn)] for eqn in jaxpr.eqns if id(eqn) in group.links]
    read_outside = {v for eqn in jaxpr.eqns if id(eqn) not in group.links for v in jaxprs.variables(eqn.invars)}
    read_outside |= set(jaxprs.variables(jaxpr.outvars))
    outs = [(v, link.outs[at], link.combine) for eqn, link in steps for at, v in enumerate(eqn.outvars)
            if v in read_outside]  # fmt: skip
    summed = [(v, combine) for v, dim, combine in outs if dim is None]
    stacked = [(v, dim) for v, dim, _ in outs if dim is not None]

    def piece(number: Any) -> tuple[list[Any], list[Any]]:
        here: dict[Any, Any] = {}

        def given(atom: Any, dim: int | None) -> Any:
            if jaxprs.is_literal(atom) or atom in here:
                return atom.val if jaxprs.is_literal(atom) else here[atom]
            if dim is None:
                return known[atom]
            size = atom.aval.shape[dim] // group.count
            return jax.lax.dynamic_slice_in_dim(known[atom], number * size, size, dim)

        for eqn, link in steps:
            arrays = [given(atom, dim) for atom, dim in zip(eqn.invars, link.ins, strict=True)]
            changed = eqn.replace(params=params_of_piece(eqn, link, group.count))
            here.update(zip(eqn.outvars, _WRITER.apply(changed, arrays, None), strict=True))
        return [_wide(here[v]) for v, _ in summed], [here[v] for v, _ in stacked]

    def step(carry: list[Any], number: Any) -> tuple[list[Any], list[Any]]:
        sums, parts = piece(number)
        return [_COMBINED[how](old, new) for old, new, (_, how) in zip(carry, sums, summed, strict=True)], parts

    first, parts = piece(jnp.int32(0))
    totals, rest = jax.lax.scan(step, first, jnp.arange(1, group.count, dtype=jnp.int32))
    made = {v: total.astype(v.aval.dtype) for (v, _), total in zip(summed, totals, strict=True)}
    for (v, dim), one, others in zip(stacked, parts, rest, strict=True):
        every = jnp.concatenate([one[None], others])
        made[v] = jnp.moveaxis(every, 0, dim).reshape(v.aval.shape)
    return made


def _wide(array: Any) -> Any:
    """A sum of 16 bits is added up in f32, as XLA adds up within one."""
    return array.astype(jnp.float32) if array.dtype in (jnp.bfloat16, jnp.float16) else array
