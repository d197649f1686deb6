"""A call whose runs of equal bodies are scans, made by evaluating the equations of its jaxpr anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core as _core
from jax._src import source_info_util as _source_info

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.repetition.scan_plan import CarriedValue, MadeValue, ScanPlan, SharedValue, Source, StackedValue
from jaxstage_ext.report.unavailable import Unavailable

_Values = dict[Any, Any]
"""The value of each variable; of one of a scan that is stacked over the bodies, a `_Slice`."""


class _Slice:
    """One body's slice of what a scan gave, which is cut only where it is read."""

    def __init__(self, whole: Any, body: int) -> None:
        self.whole, self.body = whole, body
        self._cut: Any = None

    def cut(self) -> Any:
        if self._cut is None:
            self._cut = self.whole[self.body]
        return self._cut


class StackedCall(NamedTuple):
    """A function with runs of bodies as scans, which takes and gives what they read and make of their own stacked."""

    function: Callable[..., list[Any]]
    arguments: tuple[jax.ShapeDtypeStruct, ...]
    taken: tuple[tuple[int, ...], ...]
    """Of each argument the arrays of the call that it holds, by number."""
    donated: tuple[int, ...]
    """Those that are donated, by number."""


def stacked_call(traced: Any, plans: Sequence[ScanPlan]) -> StackedCall:
    """The traced call as if its layers were arrays of all layers, which is how a program with a scan keeps them.

    Raises Unavailable where every run is inside a transformation such as `jax.checkpoint`.
    """
    jaxpr = getattr(traced.jaxpr, "jaxpr", traced.jaxpr)
    if not any(plan.run.jaxpr is each for plan in plans for each in _reached(jaxpr, plans)):
        raise Unavailable(
            "the loop is inside a transformation such as jax.checkpoint, whose rules a trial leaves alone"
        )
    columns = _columns(jaxpr, plans)
    stacked = {var: (number, at) for number, column in enumerate(columns) for at, var in enumerate(column)}
    others = [var for var in jaxpr.invars if var not in stacked]
    first = len(traced._params["donated_invars"]) - len(jaxpr.invars)
    is_donated = dict(zip(jaxpr.invars, traced._params["donated_invars"][first:], strict=True))

    def function(*values: Any) -> list[Any]:
        known = dict(zip(jaxpr.constvars, traced.jaxpr.consts, strict=True))
        known |= dict(zip(others, values[len(columns) :], strict=True))
        known |= {var: _Slice(values[number], at) for var, (number, at) in stacked.items()}
        _evaluate(jaxpr, plans, known)
        given = [atom.val if isinstance(atom, _core.Literal) else known[atom] for atom in jaxpr.outvars]
        wholes = {id(one.whole): one.whole for one in given if isinstance(one, _Slice)}
        return [*wholes.values(), *(one for one in given if not isinstance(one, _Slice))]

    arguments = [_shape(column[0].aval, (len(column),)) for column in columns] + [_shape(var.aval) for var in others]
    groups = [*columns, *([var] for var in others)]
    donated = tuple(at for at, group in enumerate(groups) if all(is_donated[var] for var in group))
    numbers = {var: number for number, var in enumerate(jaxpr.invars)}
    taken = tuple(tuple(numbers[var] for var in group) for group in groups)
    return StackedCall(function, tuple(arguments), taken, donated)


def _shape(aval: Any, stacked: tuple[int, ...] = ()) -> jax.ShapeDtypeStruct:
    is_weak = getattr(aval, "weak_type", False)
    return jax.ShapeDtypeStruct((*stacked, *aval.shape), aval.dtype, weak_type=is_weak)  # type: ignore[no-untyped-call]


def _columns(jaxpr: Any, plans: Sequence[ScanPlan]) -> list[list[Any]]:
    """The arguments that bodies read as their own, each list in the order of the bodies; no argument is in two."""
    outer: _Values = {var: var for var in jaxpr.invars}
    _follow(jaxpr, plans, outer)
    columns = [[outer.get(v) for v in values if isinstance(v, _core.Var)] for plan in plans for values in plan.stacked]
    taken: set[Any] = set()
    kept = []
    for column in sorted(columns, key=lambda column: -len(column)):
        is_whole = all(var is not None for var in column) and len(set(column)) == len(column)
        if len(column) > 1 and is_whole and taken.isdisjoint(column):
            kept.append(column)
            taken.update(column)
    return kept


def _follow(jaxpr: Any, plans: Sequence[ScanPlan], outer: _Values) -> None:
    """Name the arguments of functions that hold runs after those of the call."""
    for eqn in jaxpr.eqns:
        if (inner := _called(eqn, plans)) is not None:
            given = zip(inner.invars, eqn.invars, strict=True)
            outer |= {v: outer[a] for v, a in given if isinstance(a, _core.Var) and a in outer}
            _follow(inner, plans, outer)


def _reached(jaxpr: Any, plans: Sequence[ScanPlan]) -> Iterator[Any]:
    yield jaxpr
    for eqn in jaxpr.eqns:
        if (inner := _called(eqn, plans)) is not None:
            yield from _reached(inner, plans)


def _called(eqn: Any, plans: Sequence[ScanPlan]) -> Any:
    """The jaxpr of a jitted function that is called in another and holds runs; None of other equations."""
    if eqn.primitive.name not in ("jit", "pjit"):
        return None
    inner = getattr(eqn.params["jaxpr"], "jaxpr", eqn.params["jaxpr"])
    held = jaxprs.all_jaxprs(inner)
    has_runs = any(plan.run.jaxpr is each for plan in plans for each in held)
    return inner if has_runs and not inner.constvars else None


def _evaluate(jaxpr: Any, plans: Sequence[ScanPlan], known: _Values) -> None:
    begins = {plan.run.first: plan for plan in plans if plan.run.jaxpr is jaxpr}
    at = 0
    while at < len(jaxpr.eqns):
        eqn = jaxpr.eqns[at]
        if (plan := begins.get(at)) is not None:
            at += plan.run.length * plan.run.count
            after = [*(v for eqn in jaxpr.eqns[at:] for v in eqn.invars), *jaxpr.outvars]
            _scan(plan, {v for v in after if isinstance(v, _core.Var)}, known)
            continue
        if (inner := _called(eqn, plans)) is None:
            _compute(eqn, [_read(known, atom) for atom in eqn.invars], known)
        else:
            passed = [atom.val if isinstance(atom, _core.Literal) else known[atom] for atom in eqn.invars]
            own = dict(zip(inner.invars, passed, strict=True))
            _evaluate(inner, plans, own)
            made = [atom.val if isinstance(atom, _core.Literal) else own[atom] for atom in inner.outvars]
            known.update(zip(eqn.outvars, made, strict=True))
        at += 1


def _compute(eqn: Any, values: list[Any], known: _Values) -> None:
    """Bind an equation as `jax.core.eval_jaxpr` does, which keeps its source line and its name scope."""
    names = _source_info.current_name_stack() + eqn.source_info.name_stack
    with _source_info.user_context(eqn.source_info.traceback, name_stack=names), eqn.ctx.manager:
        made = eqn.primitive.bind(*values, **eqn.primitive.get_bind_params(eqn.params))
    known.update(zip(eqn.outvars, made if eqn.primitive.multiple_results else [made], strict=True))


def _read(known: _Values, atom: Any) -> Any:
    if isinstance(atom, _core.Literal):
        return atom.val
    value = known[atom]
    return value.cut() if isinstance(value, _Slice) else value


def _scan(plan: ScanPlan, read_after: set[Any], known: _Values) -> None:
    """Run the bodies as a scan, and keep what is read after them."""
    template, last = plan.bodies[-1], plan.run.count - 1
    wanted = _wanted(plan, read_after)
    of_last = [made for made, bodies in wanted.items() if bodies == {last} and made not in plan.carried]
    at_end = [made for made in of_last if isinstance(template[made.row].outvars[made.result].aval.dtype, np.dtype)]
    every = [made for made, bodies in wanted.items() if bodies != {last} or (made in of_last and made not in at_end)]

    def body(carry: Any, slices: Any) -> Any:
        inside: _Values = {}
        for row, eqn in enumerate(template):
            if row in plan.hoisted:
                inside[eqn.outvars[0]] = slices[plan.hoisted[row]]
            else:
                values = [_operand(source, carry, slices, template, inside, known) for source in plan.sources[row]]
                _compute(eqn, values, inside)

        def value(made: MadeValue) -> Any:
            return inside[template[made.row].outvars[made.result]]

        return [value(made) for made in (*plan.carried, *at_end)], [value(made) for made in every]

    begin = [_read(known, atom) for atom in plan.initial]
    begin += [_filler(template[made.row].outvars[made.result].aval) for made in at_end]
    end, stacks = jax.lax.scan(body, begin, [_stack(values, known) for values in plan.stacked], length=plan.run.count)
    for made, value in zip((*plan.carried, *at_end), end, strict=True):
        known[plan.bodies[last][made.row].outvars[made.result]] = value
    for made, whole in zip(every, stacks, strict=True):
        for number in wanted[made]:
            known[plan.bodies[number][made.row].outvars[made.result]] = _Slice(whole, number)
    for number, eqns in enumerate(plan.bodies):
        for row, stack in plan.hoisted.items():
            if eqns[row].outvars[0] in read_after:
                _compute(plan.stacked[stack][number], [_read(known, v) for v in eqns[row].invars], known)


def _wanted(plan: ScanPlan, read_after: set[Any]) -> dict[MadeValue, set[int]]:
    """The values of bodies that are read after the run, each with the bodies whose value is."""
    wanted: dict[MadeValue, set[int]] = {}
    for number, eqns in enumerate(plan.bodies):
        for row, eqn in enumerate(eqns):
            for result, var in enumerate(eqn.outvars):
                if var in read_after and row not in plan.hoisted:
                    wanted.setdefault(MadeValue(row, result), set()).add(number)
    return wanted


def _operand(source: Source, carry: Any, slices: Any, template: Any, inside: _Values, known: _Values) -> Any:
    match source:
        case MadeValue(row, result):
            return inside[template[row].outvars[result]]
        case CarriedValue(number):
            return carry[number]
        case StackedValue(number):
            return slices[number]
        case SharedValue(atom):
            return _read(known, atom)


def _stack(values: Sequence[Any], known: _Values) -> Any:
    """What each body reads of its own, stacked."""
    if not isinstance(values[0], _core.Var | _core.Literal):  # equations that are computed before the run
        whole = _slices_in_order(values, known)
        return jnp.stack([_computed(eqn, known) for eqn in values]) if whole is None else whole
    given = [known[v] if isinstance(v, _core.Var) else v.val for v in values]
    parts = [_part(group) for group in _groups(given)]
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _slices_in_order(eqns: Sequence[Any], known: _Values) -> Any:
    """What slices that follow one another along a dimension cut from one array, as layers[i] does; None of others."""
    first, starts = eqns[0], np.array([eqn.params.get("start_indices", ()) for eqn in eqns])
    if any(eqn.primitive.name != "slice" or eqn.invars != first.invars for eqn in eqns):
        return None
    if set(first.params["strides"] or ()) - {1}:
        return None
    sizes, [moving] = first.outvars[0].aval.shape, np.nonzero((starts != starts[0]).any(0))
    if len(moving) != 1:
        return None
    dim = int(moving[0])
    begin, size = int(starts[0, dim]), sizes[dim]
    if starts[:, dim].tolist() != [begin + at * size for at in range(len(eqns))]:
        return None
    limits = [start + length for start, length in zip(starts[0].tolist(), sizes, strict=True)]
    limits[dim] = begin + len(eqns) * size
    every = jax.lax.slice(_read(known, first.invars[0]), starts[0].tolist(), limits)
    return jnp.moveaxis(every.reshape((*sizes[:dim], len(eqns), *sizes[dim:])), dim, 0)


def _groups(values: Sequence[Any]) -> list[list[Any]]:
    """Values that follow one another in what a scan stacked, forwards or backwards, and others, together."""
    groups: list[list[Any]] = []
    for value in values:
        if groups and _continues(groups[-1], value):
            groups[-1].append(value)
        else:
            groups.append([value])
    return groups


def _continues(group: Sequence[Any], value: Any) -> bool:
    last = group[-1]
    if not isinstance(value, _Slice) or not isinstance(last, _Slice):
        return not isinstance(value, _Slice) and not isinstance(last, _Slice)
    step = value.body - last.body
    usual = group[1].body - group[0].body if len(group) > 1 else step
    return value.whole is last.whole and abs(step) == 1 and step == usual


def _part(group: list[Any]) -> Any:
    """The values of a group, stacked."""
    if not isinstance(group[0], _Slice):
        return jnp.stack(group)
    bodies = sorted((group[0].body, group[-1].body))
    cut = group[0].whole[bodies[0] : bodies[1] + 1]
    return jnp.flip(cut, 0) if group[0].body > group[-1].body else cut


def _computed(eqn: Any, known: _Values) -> Any:
    made: _Values = {}
    _compute(eqn, [_read(known, atom) for atom in eqn.invars], made)
    return made[eqn.outvars[0]]


def _filler(aval: Any) -> Any:
    """A value that is carried in place of one that no body has made yet."""
    return jax.lax.full(aval.shape, 0, aval.dtype)
