"""Equations around large intermediate values that can be computed in pieces of one dimension, one after another.

Such values are made of smaller ones and reduced to smaller ones, as logits are by a cross entropy, scores by attention
and the differences of all pairs by a sum. A loop over pieces of a dimension that all of them have holds one piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.core.jax_private import jaxpr_edits, jaxprs, rematerialized
from jaxstage_ext.core.rewrites.dimension_links import Link, links

_ALIKE, _SMALL = 0.5, 0.25
"""Of the bytes of the largest value, from which on others are large, and above which no edge may be."""
_PRODUCTS = frozenset({"dot_general", "conv_general_dilated"})
_MOST_PIECES, _PIECES = 64, 8
_CALLS = (*jaxpr_edits.CALLS, "custom_jvp_call", "custom_vjp_call")
_HOLDING = frozenset({"scan", "while", "cond"})


@dataclass(frozen=True)
class Piecewise:
    """Equations that are computed together in pieces."""

    seed: Any
    """The value that is in memory whole, or the largest."""
    maker: Any
    """The equation that makes it."""
    links: dict[int, tuple[Any, Link]] = field(repr=False)
    """By the id of each equation, itself and the dimension of its operands and results."""
    dims: dict[Any, int] = field(repr=False)
    """Of each value that they make in pieces, the dimension."""
    large: tuple[Any, ...] = field(repr=False)
    count: int = 1
    """How many pieces."""

    @property
    def equations(self) -> list[Any]:
        """In no order."""
        return [eqn for eqn, _ in self.links.values()]

    @property
    def dimension(self) -> int:
        """Of `seed`."""
        return self.dims[self.seed]


def found(jaxpr: Any, size: int) -> list[Piecewise]:
    """The groups of a jaxpr and of those that its equations hold, whose largest value that XLA keeps has `size` bytes.

    All values of about that size have to be made in pieces: one that is left would take as much as all did.
    """
    groups: list[Piecewise] = []
    for level in _levels(jaxpr):
        own = groups_of(level, size)
        if own is None:
            return []
        groups += own
    return groups


def _levels(jaxpr: Any) -> Iterator[Any]:
    """The jaxpr, and those of its loops and branches, with calls inlined and without what nothing reads."""
    flat = without_calls(jaxpr)
    yield flat
    for eqn in flat.eqns:
        yield from levels_inside(eqn)


def levels_inside(eqn: Any) -> Iterator[Any]:
    """The jaxprs of a loop or a branch, at any depth."""
    for inner in jaxprs.inner_jaxprs(eqn) if holds_jaxprs(eqn) else ():
        yield from _levels(inner)


def holds_jaxprs(eqn: Any) -> bool:
    """Whether it is a loop or a branch."""
    return eqn.primitive.name in _HOLDING


def without_calls(jaxpr: Any) -> Any:
    """The jaxpr with the equations of the functions that it calls, and without what nothing reads."""
    flat = jaxpr_edits.inlined(jaxpr, _CALLS)
    wanted, kept = set(jaxprs.variables(flat.outvars)), []
    for eqn in reversed(flat.eqns):
        if eqn.effects or not wanted.isdisjoint(eqn.outvars):
            kept.append(eqn)
            wanted.update(jaxprs.variables(eqn.invars))
    return flat if len(kept) == len(flat.eqns) else rematerialized.with_equations(flat, kept[::-1], {})


def groups_of(flat: Any, size: int) -> list[Piecewise] | None:
    """The groups of one level; None where a large value remains."""
    large = [v for eqn in flat.eqns for v in eqn.outvars if bytes_of(v) >= _ALIKE * size]
    graph, ends = _Graph(flat, set(large), size), set(jaxprs.variables(flat.outvars))
    groups: list[Piecewise] = []
    taken: set[Any] = set()
    for seed in sorted(large, key=bytes_of, reverse=True):
        if seed in taken:
            continue
        if seed in ends or (group := graph.group(seed)) is None or not taken.isdisjoint(group.dims):
            return None
        groups.append(group)
        taken.update(group.dims)
    return groups


class _Graph:
    """The equations of a jaxpr, by what they read and make."""

    def __init__(self, jaxpr: Any, large: set[Any], size: int) -> None:
        self.jaxpr, self.large, self.size, self.small = jaxpr, large, size, _SMALL * size
        self.maker = jaxprs.makers(jaxpr)
        self.place = {id(eqn): at for at, eqn in enumerate(jaxpr.eqns)}
        self.readers = jaxprs.readers(jaxpr)
        self.ends = set(jaxprs.variables(jaxpr.outvars))

    def group(self, seed: Any) -> Piecewise | None:
        """The equations around a value, in pieces of the first of its dimensions that all of them have."""
        for dim, size in enumerate(seed.aval.shape):
            if size < _PIECES:
                continue
            known: dict[int, tuple[Any, Link]] = {}
            dims: dict[Any, int] = {seed: dim}
            if not self._grown(known, dims, [seed]) or not self._is_closed(known, dims):
                continue
            count = _count([v.aval.shape[at] for v, at in dims.items()])
            large = tuple(v for v in dims if v in self.large)
            if count > 1 and self._is_worth(known, dims):
                kept = next((v for v in large if bytes_of(v) == self.size), seed)
                return Piecewise(kept, self.maker[kept], known, dims, large, count)
        return None

    def _grown(self, known: dict[int, tuple[Any, Link]], dims: dict[Any, int], todo: list[Any]) -> bool:
        """Whether all equations that make or read the large values have the dimension; `known` and `dims` get them."""
        while todo:
            value = todo.pop()
            around = [self.maker[value], *self.readers.get(value, ())] if value in self.large else []
            for eqn in around:
                if id(eqn) in known:
                    continue
                link = _link(eqn, value, dims[value])
                if link is None or not self._added(eqn, link, known, dims, todo):
                    return False
        return True

    def _added(
        self, eqn: Any, link: Link, known: dict[int, tuple[Any, Link]], dims: dict[Any, int], todo: list[Any]
    ) -> bool:
        known[id(eqn)] = eqn, link
        for v, at in (*zip(eqn.invars, link.ins, strict=True), *zip(eqn.outvars, link.outs, strict=True)):
            if at is None or jaxprs.is_literal(v):
                continue
            is_inside = v in self.large or any(v is made for made in eqn.outvars)
            if is_inside and dims.setdefault(v, at) != at:
                return False
            if v in self.large:
                todo.append(v)
        return True

    def _is_closed(self, known: dict[int, tuple[Any, Link]], dims: dict[Any, int]) -> bool:
        """Whether no equation outside stands between those inside, when those that do are taken in."""
        while True:
            between = self._between(known)
            if not between:
                break
            for eqn in between:
                value = next((v for v in jaxprs.variables(eqn.invars) if v in dims), None)
                todo: list[Any] = []
                link = None if value is None or eqn.primitive.name in _PRODUCTS else _link(eqn, value, dims[value])
                if link is None or not self._added(eqn, link, known, dims, todo):
                    return False
                if not self._grown(known, dims, todo):
                    return False
        made = {v for eqn, _ in known.values() for v in eqn.outvars}
        return all(
            dims.get(v) == at and at is not None
            for eqn, link in known.values()
            for v, at in zip(eqn.invars, link.ins, strict=True)
            if not jaxprs.is_literal(v) and v in made
        )

    def _between(self, known: dict[int, tuple[Any, Link]]) -> list[Any]:
        """The equations outside that read what those inside make and make what those inside read, in order."""
        places = [self.place[at] for at in known]
        first, last = min(places), max(places)
        after: set[Any] = {v for eqn, _ in known.values() for v in eqn.outvars}
        reached = []
        for eqn in self.jaxpr.eqns[first : last + 1]:
            if id(eqn) not in known and not after.isdisjoint(jaxprs.variables(eqn.invars)):
                reached.append(eqn)
                after.update(eqn.outvars)
        wanted = {v for eqn, _ in known.values() for v in jaxprs.variables(eqn.invars)}
        between = []
        for eqn in reversed(reached):
            if not wanted.isdisjoint(eqn.outvars):
                between.append(eqn)
                wanted.update(jaxprs.variables(eqn.invars))
        return between[::-1]

    def _is_worth(self, known: dict[int, tuple[Any, Link]], dims: dict[Any, int]) -> bool:
        """Whether what goes in and comes out is small, and no product leads from one large value to another."""
        made = {v for eqn, _ in known.values() for v in eqn.outvars}
        for eqn, link in known.values():
            given = [
                v for v, at in zip(eqn.invars, link.ins, strict=True) if at is not None and not jaxprs.is_literal(v)
            ]
            if any(v not in made and bytes_of(v) > self.small for v in given):
                return False
            is_product = eqn.primitive.name in _PRODUCTS
            if is_product and not self.large.isdisjoint(eqn.outvars) and not self.large.isdisjoint(given):
                return False
        kept = [v for v in made if v in self.ends or any(id(eqn) not in known for eqn in self.readers.get(v, ()))]
        return all(bytes_of(v) <= self.small for v in kept if v in dims)


def _link(eqn: Any, value: Any, dim: int) -> Link | None:
    """The link of an equation that has this dimension of a value that it reads or makes."""
    for link in links(eqn):
        pairs = (*zip(eqn.invars, link.ins, strict=True), *zip(eqn.outvars, link.outs, strict=True))
        if any(v is value and at == dim for v, at in pairs):
            return link
    return None


def _count(sizes: Sequence[int]) -> int:
    """Into how many pieces dimensions of these sizes are cut: one for all of them."""
    counts = [*range(_PIECES, _MOST_PIECES + 1), *range(_PIECES - 1, 1, -1)]
    return next((count for count in counts if all(size % count == 0 for size in sizes)), 1)


def bytes_of(var: Any) -> int:
    """Bytes of a value on all devices; 0 of one that is not an array."""
    aval = var.aval
    return int(getattr(aval, "size", 0)) * int(getattr(getattr(aval, "dtype", None), "itemsize", 0))
