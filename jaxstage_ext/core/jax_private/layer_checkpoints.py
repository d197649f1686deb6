"""A differentiated program with `jax.checkpoint` around each of several parts of its forward pass, one after another.

Each part is computed again directly before its own backward pass: a barrier ties it to what the later parts hand back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jax._src import core as _core

from jaxstage_ext.core.derivative.rematerialization import PassesOfDerivative, passes_of
from jaxstage_ext.core.jax_private import jaxpr_edits, jaxprs, rematerialized
from jaxstage_ext.core.jax_private.rematerialized import renamed, with_equations
from jaxstage_ext.report.unavailable import Unavailable

_AROUND_LEAST = 1.05
_MOST_PARTS = 64


@dataclass(frozen=True)
class ForwardParts:
    """Where a forward pass is cut, and what the backward pass reads of it."""

    jaxpr: Any
    """With jitted functions inlined."""
    passes: PassesOfDerivative
    part_of: dict[int, int]
    """Of each equation of the forward pass, by its id, the part."""
    inner: dict[Any, int]
    """Of each value that would be computed again, the part."""
    before: int
    """Bytes that the backward pass reads of the forward pass, on all devices."""
    after: int
    """Bytes that are live with the checkpoints: what is between the parts, and the part of most bytes."""

    @property
    def count(self) -> int:
        """How many parts there are."""
        return 1 + max(self.part_of.values(), default=0)


def read(jaxpr: Any) -> ForwardParts | None:
    """The parts that let the least be live; None without a backward pass, or where nothing is to be cut."""
    flat = jaxpr_edits.inlined(jaxpr)
    passes = passes_of(flat)
    if len(passes.forward) < 2 or any(eqn.effects for eqn in (*passes.forward, *passes.backward)):
        return None
    cuts = _cuts(passes)
    part_of, part = dict[int, int](), 0
    for place, eqn in enumerate(passes.forward):
        part_of[id(eqn)] = part
        part += place in cuts
    if not part:
        return None
    made = {var: part_of[id(eqn)] for eqn in passes.forward for var in eqn.outvars}
    between = {var for eqn in passes.forward for var in jaxprs.variables(eqn.invars)
               if var in made and made[var] != part_of[id(eqn)]}  # fmt: skip
    between |= {var for eqn in passes.others for var in jaxprs.variables(eqn.invars)} & set(made)
    between |= set(jaxprs.variables(flat.outvars)) & set(made)
    inner = {var: made[var] for var in passes.wanted if var not in between}
    sizes = [0] * (part + 1)
    for var, at in inner.items():
        sizes[at] += _bytes(var)
    before = sum(map(_bytes, passes.wanted))
    return ForwardParts(flat, passes, part_of, inner, before, sum(map(_bytes, between)) + max(sizes))


def checkpointed(jaxpr: Any) -> Any:
    """The jaxpr with a checkpoint around each part. Raises Unavailable where there are none."""
    parts = read(jaxpr)
    if parts is None:
        raise Unavailable("the forward pass has no parts that a checkpoint could be put around")
    backward = _parts_of_backward(parts)
    by_part: list[list[Any]] = [[] for _ in range(parts.count)]
    for eqn in parts.passes.backward:
        by_part[backward[id(eqn)]].append(eqn)
    late = {var for eqn in parts.passes.backward for var in eqn.outvars}
    first, last = [], []
    own = {id(eqn) for eqn in parts.passes.backward}
    for eqn in parts.jaxpr.eqns:
        if id(eqn) in own:
            continue
        if late.isdisjoint(jaxprs.variables(eqn.invars)):
            first.append(eqn)
        else:
            last.append(eqn)
            late.update(eqn.outvars)
    middle = [each for part in reversed(range(parts.count)) for each in _again(parts, part, by_part[part], own)]
    made = with_equations(parts.jaxpr, [*first, *middle, *last], {})
    if not rematerialized.is_well_formed(made):
        raise Unavailable("what the backward pass reads is computed by another derivative")
    return made


def _again(parts: ForwardParts, part: int, backward: Sequence[Any], own: set[int]) -> list[Any]:
    """A barrier, the part computed again, and its backward pass, which reads that."""
    wanted = {var for var, at in parts.inner.items() if at == part}
    read = {var for eqn in backward for var in jaxprs.variables(eqn.invars)}
    needed, again = wanted & read, list[Any]()
    for eqn in reversed(parts.passes.forward):
        if parts.part_of[id(eqn)] == part and not needed.isdisjoint(eqn.outvars):
            again.append(eqn)
            needed |= set(jaxprs.variables(eqn.invars))
    again.reverse()
    if not again:
        return list(backward)
    made = {var for eqn in again for var in eqn.outvars}
    inputs = [var for var in dict.fromkeys(v for eqn in again for v in jaxprs.variables(eqn.invars)) if var not in made]
    here = {var for eqn in backward for var in eqn.outvars}
    before = {var for eqn in parts.passes.backward if id(eqn) in own for var in eqn.outvars} - here
    handed = [
        var for var in dict.fromkeys(v for eqn in backward for v in jaxprs.variables(eqn.invars)) if var in before
    ]
    wall, behind = rematerialized.barrier([*inputs, *handed])
    names: dict[Any, Any] = dict(behind)
    steps = []
    for eqn in again:
        fresh = {var: _core.Var(var.aval) for var in eqn.outvars if not isinstance(var, _core.DropVar)}
        steps.append(renamed(eqn, names, fresh))
        names |= fresh
    seen = {var: names[var] for var in (*wanted & made, *handed)}
    return [wall, *steps, *(renamed(eqn, seen) for eqn in backward)]


def _parts_of_backward(parts: ForwardParts) -> dict[int, int]:
    """Of each equation of the backward pass, the earliest part that it reads from, or that what it reads does."""
    of_value: dict[Any, int] = dict(parts.inner)
    found: dict[int, int] = {}
    for eqn in parts.passes.backward:
        read = [of_value[var] for var in jaxprs.variables(eqn.invars) if var in of_value]
        found[id(eqn)] = min(read, default=parts.count - 1)
        of_value.update(dict.fromkeys(eqn.outvars, found[id(eqn)]))
    return found


def _cuts(passes: PassesOfDerivative) -> set[int]:
    """After which equations of the forward pass it is cut: where least crosses, in parts of about equal residuals."""
    forward, wanted = passes.forward, set(passes.wanted)
    last = {var: place for place, eqn in enumerate(forward) for var in jaxprs.variables(eqn.invars)}
    crossing, ends, live = [], dict[int, int](), 0
    kept, total = [], 0
    for place, eqn in enumerate(forward):
        live -= ends.pop(place, 0)
        for var in eqn.outvars:
            total += _bytes(var) if var in wanted else 0
            if last.get(var, -1) > place:
                live += _bytes(var)
                ends[last[var]] = ends.get(last[var], 0) + _bytes(var)
        crossing.append(live)
        kept.append(total)
    inside = [
        size for size, done in zip(crossing, kept, strict=True) if size > 0 and 0.05 * total < done < 0.95 * total
    ]
    if not inside or not total:
        return set()
    least = min(inside)
    count = min(max(round(math.sqrt(total / least)), 2), _MOST_PARTS)
    cuts, aim = set[int](), total / count
    for place, (size, done) in enumerate(zip(crossing, kept, strict=True)):
        if 0 < size <= _AROUND_LEAST * least and done >= aim and done < 0.98 * total:
            cuts.add(place)
            aim = done + total / count
    return cuts


def _bytes(var: Any) -> int:
    if isinstance(var, _core.DropVar):
        return 0
    return int(var.aval.size) * int(getattr(var.aval.dtype, "itemsize", 0))
