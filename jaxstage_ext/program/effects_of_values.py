"""Arguments and results that lie in the host's memory, and mutable arrays that a program is given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jaxstage_ext.core.jax_private import effect_rules, given_objects, sharding_internals
from jaxstage_ext.core.jax_private.sharding_internals import ProgramValue
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.units import scaled

_OF_REFS = {
    frozenset({"Read"}): "reads it",
    frozenset({"Write"}): "writes it in place",
    frozenset({"Accum"}): "adds to it in place",
    frozenset(): "is given it",
}


class ValueEffect(NamedTuple):
    """One argument, captured array or result: `what` says where it lies, or what is done to it."""

    operation: str
    effect: str
    what: str


def effects_of_values(program: Program) -> list[ValueEffect]:
    """In the order of the call; none where nothing was traced."""
    traced = program.jax_traced
    if traced is None:
        return []
    lowered = program.jax_lowered
    values = sharding_internals.program_values(lowered) if lowered is not None else []
    names = given_objects.call_info(traced).arguments
    return [*(_lying(value) for value in values if _is_on_host(value)), *_refs(traced.jaxpr, names)]


def _lying(value: ProgramValue) -> ValueEffect:
    size = scaled(math.prod(value.aval.shape) * int(value.aval.dtype.itemsize), "B")
    name = value.name if value.is_result else f"argument {value.name}"
    return ValueEffect(name, "", f"lies in the host's memory ({value.sharding.memory_kind}, {size})")


def _is_on_host(value: ProgramValue) -> bool:
    """Whether it lies in the host's memory, and that is not its device's own."""
    kind = getattr(value.sharding, "memory_kind", None)
    return kind is not None and "host" in kind and kind != sharding_internals.own_memory_kind(value.sharding)


def _refs(closed: Any, arguments: Sequence[str]) -> Iterator[ValueEffect]:
    jaxpr = closed.jaxpr
    names = dict(zip(map(id, jaxpr.invars), arguments, strict=False))
    for var in (*jaxpr.invars, *jaxpr.constvars):
        if effect_rules.is_of_ref(var):
            done = effect_rules.effects_on(var, jaxpr.effects)
            how = _OF_REFS.get(frozenset(done), "reads it and writes it in place")
            name = f"argument {names[id(var)]}" if id(var) in names else "captured jax.Ref"
            yield ValueEffect(name, ", ".join(done), f"a mutable array: the program {how}")
