"""Sorted arrays of which only a few elements at one end are read, which `jax.lax.top_k` finds without sorting."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.rewrites.replacements import Form, Replacement, uses

_LEAST, _MOST_SHARE = 1024, 1 / 16
"""Elements that are sorted, and the part of them that is read."""


class SortedEnd(NamedTuple):
    """What a slice takes of a sorted array."""

    elements: int
    is_last: bool
    is_reversed: bool
    """Whether it has the largest of them first."""


def _find(jaxpr: Any) -> list[Replacement]:
    """The slices of a sorted array that nothing else reads."""
    sorts = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "sort" and _is_plain(eqn)]
    if not sorts:
        return []
    read, made_by = uses(jaxpr), jaxprs.makers(jaxpr)
    found: list[Replacement] = []
    for eqn in sorts:
        made = [_of_result(eqn, at, read) for at in range(len(eqn.outvars))]
        if all(part is not None for part in made):
            found += [one for part in made if part is not None for one in part]
    return [one for one in found if len(one.source.invars) == 1 or _is_iota(made_by.get(one.source.invars[1]))]


def count_read(one: Replacement) -> SortedEnd:
    """What is read of the sorted array."""
    end = one.compute.keywords["end"]  # type: ignore[attr-defined]
    assert isinstance(end, SortedEnd)
    return end


def _is_iota(eqn: Any) -> bool:
    return eqn is not None and eqn.primitive.name == "iota"


def _is_plain(eqn: Any) -> bool:
    keys = eqn.invars[0].aval
    return (
        eqn.params["num_keys"] == 1
        and len(eqn.invars) <= 2
        and eqn.params["dimension"] == keys.ndim - 1
        and keys.shape[-1] >= _LEAST
        and (jnp.issubdtype(keys.dtype, jnp.floating) or jnp.issubdtype(keys.dtype, jnp.signedinteger))
    )


def _of_result(sort: Any, at: int, read: dict[Any, list[Any]]) -> list[Replacement] | None:
    """The slices of one result; None where something else reads it."""
    found: list[Replacement] = []
    todo = [(user, False) for user in read.get(sort.outvars[at], [])]
    while todo:
        user, is_reversed = todo.pop()
        if user is None:
            return None
        if user.primitive.name == "rev" and user.params["dimensions"] == (sort.params["dimension"],):
            todo += [(one, not is_reversed) for one in read.get(user.outvars[0], [])]
            continue
        end = _end(user, sort, is_reversed) if user.primitive.name == "slice" else None
        if end is None:
            return None
        compute = functools.partial(_largest, end=end, is_index=at == 1, dtype=user.outvars[0].aval.dtype)
        found.append(Replacement(user, sort, (sort.invars[0],), compute))
    return found


def _end(user: Any, sort: Any, is_reversed: bool) -> SortedEnd | None:
    params, shape = user.params, sort.invars[0].aval.shape
    size = shape[-1]
    starts, limits = params["start_indices"], params["limit_indices"]
    if params["strides"] is not None or starts[:-1] != (0,) * (len(shape) - 1) or limits[:-1] != shape[:-1]:
        return None
    start, limit = (size - limits[-1], size - starts[-1]) if is_reversed else (starts[-1], limits[-1])
    count = limit - start
    if count > _MOST_SHARE * size or (start and limit != size):
        return None
    return SortedEnd(count, start != 0, is_reversed)


def _largest(keys: Any, *, end: SortedEnd, is_index: bool, dtype: Any) -> Any:
    flipped = keys if end.is_last else _mirrored(keys)
    values, indices = jax.lax.top_k(flipped, end.elements)
    made = indices.astype(dtype) if is_index else values if end.is_last else _mirrored(values)
    return made if end.is_last == end.is_reversed else made[..., ::-1]


def _mirrored(values: Any) -> Any:
    """Values in the other order; the least integer has no negative."""
    return ~values if jnp.issubdtype(values.dtype, jnp.integer) else -values


FORM = Form(_find)
