"""Bodies of loops whose reads of a carried array are done before its first write in place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from jaxstage_ext.core.jax_private import jaxprs, rematerialized
from jaxstage_ext.core.jax_private.jaxpr_edits import CALLS

LOOPS = ("scan", "while")
_WRITES = ("dynamic_update_slice", "scatter")
"""Beginnings of the names of what writes into its first operand."""


def carried(loop: Any) -> list[Any]:
    """The carried values of a loop, as its body reads them."""
    body, params = body_of(loop), loop.params
    if loop.primitive.name == "while":
        return list(body.invars[params["body_nconsts"] :])
    return list(jaxprs.parts_of_scan(params, body.invars)[1])


def fixed(loop: Any) -> list[Any]:
    """What every iteration of a scan reads whole, as its body has it."""
    return list(jaxprs.parts_of_scan(loop.params, body_of(loop).invars)[0])


def fixed_given(loop: Any) -> list[Any]:
    """The same as it is given to the scan."""
    return list(jaxprs.parts_of_scan(loop.params, loop.invars)[0])


def body_of(loop: Any) -> Any:
    """The jaxpr of an iteration."""
    held = loop.params["body_jaxpr" if loop.primitive.name == "while" else "jaxpr"]
    return getattr(held, "jaxpr", held)


def writes(body: Any, values: Collection[Any]) -> Iterator[tuple[Any, Any]]:
    """The equations, also in functions that the body calls, that write into one of the values; with the value."""
    for eqn in body.eqns:
        if eqn.primitive.name.startswith(_WRITES) and eqn.invars[0] in _variables(values):
            yield eqn, eqn.invars[0]
        elif eqn.primitive.name in CALLS:
            yield from writes(_called(eqn), _inside(eqn, values))


def read_first(body: Any, values: Collection[Any]) -> Any:
    """The jaxpr in which what is read of the values is kept apart from the first write; itself where nothing is read.

    What depends on no write is computed first; an optimization barrier stands between it and the writes.
    """
    wanted = _variables(values)
    if body.effects:
        return body
    pairs = [pair for pair in writes(body, wanted) if any(pair[0] is one for one in body.eqns)]
    if not pairs:
        return _in_calls(body, wanted)
    before, after = _parted(body, [eqn for eqn, _ in pairs])
    written = {value for _, value in pairs}
    if not any(var in written for eqn in before for var in jaxprs.variables(eqn.invars)):
        return body
    made = {var for eqn in before for var in eqn.outvars} | wanted
    used = [*(v for eqn in after for v in jaxprs.variables(eqn.invars)), *jaxprs.variables(body.outvars)]
    wall, behind = rematerialized.barrier(list(dict.fromkeys(var for var in used if var in made)))
    equations = [*before, wall, *(rematerialized.renamed(eqn, behind) for eqn in after)]
    return rematerialized.with_equations(body, equations, behind)


def with_reads_first(jaxpr: Any, loop: Any) -> Any:
    """The jaxpr of a loop whose body reads what it carries before it writes into it."""
    body, values = body_of(loop), carried(loop)
    made = rematerialized.with_inner(loop, lambda held: read_first(held, values) if held is body else held)
    return rematerialized.with_equations(jaxpr, [made if eqn is loop else eqn for eqn in jaxpr.eqns], {})


def swaps(loop: Any) -> bool:
    """Whether an iteration of a scan hands on a carried value in another one's place."""
    if loop.primitive.name != "scan":
        return False
    values = carried(loop)
    places = {value: number for number, value in enumerate(values)}
    handed = jaxprs.variables(body_of(loop).outvars[: len(values)])
    return any(places.get(var, number) != number for number, var in enumerate(handed))


def unrolled_twice(jaxpr: Any, loop: Any) -> Any:
    """The jaxpr of a scan with two iterations in each round of XLA's loop."""
    made = loop.replace(params=loop.params | {"unroll": 2})
    return rematerialized.with_equations(jaxpr, [made if eqn is loop else eqn for eqn in jaxpr.eqns], {})


def _parted(body: Any, own: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    before, after, written = list[Any](), list[Any](), set[Any]()
    for eqn in body.eqns:
        is_after = any(eqn is one for one in own) or not written.isdisjoint(jaxprs.variables(eqn.invars))
        (after if is_after else before).append(eqn)
        written.update(eqn.outvars if is_after else ())
    return before, after


def _in_calls(body: Any, values: Collection[Any]) -> Any:
    equations = [_with_call(eqn, values) if eqn.primitive.name in CALLS else eqn for eqn in body.eqns]
    same = all(new is old for new, old in zip(equations, body.eqns, strict=True))
    return body if same else rematerialized.with_equations(body, equations, {})


def _with_call(eqn: Any, values: Collection[Any]) -> Any:
    inside = _inside(eqn, values)
    return rematerialized.with_inner(eqn, lambda held: read_first(held, inside)) if inside else eqn


def _called(eqn: Any) -> Any:
    return next(iter(jaxprs.inner_jaxprs(eqn)))


def _inside(eqn: Any, values: Collection[Any]) -> list[Any]:
    wanted, called = _variables(values), _called(eqn)
    return [v for v, given in zip(called.invars, eqn.invars, strict=True) if _is_in(given, wanted)]


def _is_in(atom: Any, values: Collection[Any]) -> bool:
    return any(True for var in jaxprs.variables([atom]) if var in values)


def _variables(values: Collection[Any]) -> set[Any]:
    return set(jaxprs.variables(list(values)))
