"""Jaxprs: their text, their equations, and what a checkpoint policy would save of one."""

from __future__ import annotations

import operator
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from jax._src import core as _core
from jax._src import pretty_printer as _pp
from jax._src.interpreters import partial_eval as _pe

ClosedJaxpr: Any = getattr(_core, "ClosedJaxpr", _core.Jaxpr)
"""Not from `jax.extend`: that imports Pallas, which adds to JAX's trace context, so that all compiles again."""
jaxpr_as_fun: Any = _core.jaxpr_as_fun
_printing = threading.Lock()
_TOO_LONG = "\x1f" * 400
"""Text that fits on no line: the printer breaks every group that holds it. It is taken out of what is printed."""


def print_jaxpr(jaxpr: Any) -> tuple[str, list[list[tuple[int, int, Any]]]]:
    """JAX's own text of a jaxpr and, for each line, (start column, end column, equation) spans.

    JAX's printer maps its output to each equation's traceback. Tracebacks are
    shared between a forward equation and its transpose, so for the time of one
    print we have it map to the equation itself. JAX prints a jaxpr that is short enough on one line; here every
    equation has a line of its own.
    """
    source_map: list[list[tuple[int, int, Any]]] = []

    def pp_eqn(eqn: Any, context: Any, settings: Any) -> Any:
        rules = _core.pp_eqn_rules if settings.custom_pp_eqn_rules else {}
        return _pp.source_map(rules.get(eqn.primitive, _core._pp_eqn)(eqn, context, settings), eqn)

    def pp_eqns(eqns: Any, context: Any, settings: Any) -> Any:
        printed = printers[1](eqns, context, settings)
        return _pp.concat([printed, _pp.text(_TOO_LONG)]) if eqns else printed

    with _printing:
        printers = _core.pp_eqn, _core.pp_eqns
        _core.pp_eqn, _core.pp_eqns = pp_eqn, pp_eqns
        try:
            text = jaxpr.pretty_print(use_color=False, source_map=source_map)
        finally:
            _core.pp_eqn, _core.pp_eqns = printers
    return text.replace(_TOO_LONG, ""), source_map


def count_equations(jaxpr: Any) -> int:
    """Equations of a jaxpr; those of a jaxpr that is shared between equations count once."""
    return sum(len(current.eqns) for current in all_jaxprs(jaxpr))


def count_with_inner(eqns: Sequence[Any]) -> int:
    """These equations, and those of the jaxprs that they hold; of a jaxpr that several hold they count once."""
    held = {id(inner): inner for eqn in eqns for outer in inner_jaxprs(eqn) for inner in all_jaxprs(outer)}
    return len(eqns) + sum(len(inner.eqns) for inner in held.values())


_Holder = tuple[Any, tuple[Any, ...]]
_HOLDERS: weakref.WeakKeyDictionary[Any, tuple[_Holder, ...]] = weakref.WeakKeyDictionary()


def holders(jaxpr: Any) -> tuple[_Holder, ...]:
    """The equations of a jaxpr that hold jaxprs, each with those, one level down; found once for a jaxpr."""
    known = _HOLDERS.get(jaxpr)
    if known is None:
        pairs = ((eqn, tuple(inner_jaxprs(eqn))) for eqn in jaxpr.eqns)
        known = _HOLDERS[jaxpr] = tuple(pair for pair in pairs if pair[1])
    return known


def nested_equations(jaxpr: Any) -> Iterator[tuple[Any, int]]:
    """Each equation, and how many jaxprs it lies in; those of a jaxpr that is shared are given once."""
    seen: set[int] = set()
    todo = [(jaxpr, 0)]
    while todo:
        current, depth = todo.pop()
        if id(current) not in seen:
            seen.add(id(current))
            for eqn in current.eqns:
                yield eqn, depth
            todo.extend((inner, depth + 1) for _, held in holders(current) for inner in held)


def all_jaxprs(jaxpr: Any) -> list[Any]:
    """The jaxpr and those that its equations hold, at any depth, each once."""
    seen: dict[int, Any] = {}
    todo = [jaxpr]
    while todo:
        current = todo.pop()
        current = getattr(current, "jaxpr", current)
        if id(current) not in seen:
            seen[id(current)] = current
            todo.extend(inner for _, held in holders(current) for inner in held)
    return list(seen.values())


def inner_kept_jaxprs(jaxpr: Any) -> list[Any]:
    """The inner jaxprs that JAX may have kept; a function with derivative rules of its own is traced each time."""
    held: dict[int, Any] = {}
    for outer in all_jaxprs(jaxpr):
        for eqn, inside in holders(outer):
            if not eqn.primitive.name.startswith(("custom_jvp_call", "custom_vjp_call")):
                held.update((id(inner), inner) for inner in inside)
    return list(held.values())


def differing_literals(one: Any, other: Any) -> tuple[tuple[str, str], ...]:
    """The pairs of numbers, as JAX writes them, in which alone two jaxprs differ; none where they differ in more."""
    pairs: dict[tuple[str, str], None] = {}
    jaxprs = all_jaxprs(one), all_jaxprs(other)
    if [len(jaxpr.eqns) for jaxpr in jaxprs[0]] != [len(jaxpr.eqns) for jaxpr in jaxprs[1]]:
        return ()
    for first, second in zip(*jaxprs, strict=True):
        for left, right in zip(first.eqns, second.eqns, strict=True):
            if left.primitive is not right.primitive or len(left.invars) != len(right.invars):
                return ()
            for a, b in zip(left.invars, right.invars, strict=True):
                if isinstance(a, _core.Literal) and isinstance(b, _core.Literal) and str(a.val) != str(b.val):
                    pairs[str(a.val), str(b.val)] = None
    return tuple(pairs)


def source_of(jaxpr: Any) -> str:
    """The function that a jaxpr was traced from, as "name at file:line"; "" where JAX does not say."""
    return str(getattr(jaxpr.debug_info, "func_src_info", "") or "")


def inner_jaxprs(eqn: Any) -> list[Any]:
    """The jaxprs that an equation holds, one level down."""
    return [getattr(inner, "jaxpr", inner) for inner in _core.jaxprs_in_params(eqn.params)]


def inner_equations(eqn: Any) -> Iterator[Any]:
    """The equations of the jaxprs that an equation holds, one level down."""
    for inner in _core.jaxprs_in_params(eqn.params):
        yield from getattr(inner, "jaxpr", inner).eqns


def makers(jaxpr: Any) -> dict[Any, Any]:
    """The equation that makes each value of a jaxpr; arguments and constants are not in it."""
    return {made: eqn for eqn in jaxpr.eqns for made in eqn.outvars}


def readers(jaxpr: Any) -> dict[Any, list[Any]]:
    """The equations that read each value of a jaxpr, in order, one as often as it does; results are not in it."""
    found: dict[Any, list[Any]] = {}
    for eqn in jaxpr.eqns:
        for value in variables(eqn.invars):
            found.setdefault(value, []).append(eqn)
    return found


def constants(jaxpr: Any, deepest: int = 8) -> Iterator[Any]:
    """The constants of a closed jaxpr, and of those in its equations."""
    yield from getattr(jaxpr, "consts", ())
    if deepest:
        for inner in _closed_jaxprs(getattr(jaxpr, "jaxpr", jaxpr)):
            yield from constants(inner, deepest - 1)


_JAXPRS = (_core.Jaxpr, ClosedJaxpr)


def _closed_jaxprs(jaxpr: Any) -> list[Any]:
    """The jaxprs that equations hold, with their constants, which `jaxprs_in_params` of jax 0.10 drops."""
    held: list[Any] = []
    for eqn in jaxpr.eqns:
        for value in eqn.params.values():
            kind = type(value)
            parts = value if kind is tuple or kind is list else (value,)
            held += [each for each in parts if issubclass(type(each), _JAXPRS)]  # a `__class__` may run users' code
    return held


def variables(atoms: Sequence[Any]) -> list[Any]:
    """The inputs of an equation that are variables, not literals."""
    return [atom for atom in atoms if not isinstance(atom, _core.Literal)]


_Value = TypeVar("_Value")


def evaluated(
    jaxpr: Any,
    given: Sequence[_Value],
    results_of: Callable[[Any, Callable[[Any], _Value]], Sequence[_Value]],
    literal: Callable[[Any], _Value] = operator.attrgetter("val"),
) -> list[_Value]:
    """The results of a jaxpr whose constants and arguments are `given`, one equation after the other.

    `results_of(eqn, read)` gives the results of an equation, where `read` gives the value of an atom, such as an
    operand: an array where it is computed, or what is known of it. `literal` gives the value of a literal.
    """
    known: dict[Any, _Value] = dict(zip([*jaxpr.constvars, *jaxpr.invars], given, strict=True))

    def read(atom: Any) -> _Value:
        return literal(atom) if isinstance(atom, _core.Literal) else known[atom]

    for eqn in jaxpr.eqns:
        known.update(zip(eqn.outvars, results_of(eqn, read), strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def parts_of_scan(params: Any, inputs: Sequence[Any]) -> list[list[Any]]:
    """The constants, the carry, and the arrays that a scan goes over: by trees since jax 0.11, by numbers before."""
    if "ft_in" in params:
        return [list(part) for part in params["ft_in"].update(inputs).unpack()]
    fixed, carried = params["num_consts"], params["num_carry"]
    parts = inputs[:fixed], inputs[fixed : fixed + carried], inputs[fixed + carried :]
    return [list(part) for part in parts]


def is_literal(atom: Any) -> bool:
    """Whether an input of an equation is a literal."""
    return isinstance(atom, _core.Literal)


def called(eqn: Any) -> str:
    """The Python name of the function that an equation calls; "" where it has none."""
    if isinstance(name := eqn.params.get("name"), str):
        return name
    source = [str(getattr(inner.debug_info, "func_src_info", "") or "") for inner in inner_jaxprs(eqn)]
    return source[0].partition(" at ")[0] if source else ""


def split_by_policy(
    jaxpr: Any, forward: Sequence[Any], wanted: Sequence[Any], policy: Callable[..., Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    """(inputs read, values saved, equations that make them), where `wanted` of a forward pass are needed later.

    This is what `jax.checkpoint` around these equations of a jaxpr would do: what is not saved is recomputed.
    """
    whole = forward_jaxpr(jaxpr, forward, wanted)
    known, staged, _, _, number = _pe.partial_eval_jaxpr_custom(
        whole, [False] * len(whole.invars), [True] * len(whole.invars), False, True, policy
    )
    _, used = _pe.dce_jaxpr(staged, [True] * len(staged.outvars))
    saved = known.outvars[len(known.outvars) - number :]
    kept = [value for value, is_used in zip(saved, used[:number], strict=True) if is_used]
    inputs = [value for value, is_used in zip(whole.invars, used[number:], strict=True) if is_used]
    own = set(whole.invars)
    inputs = list(dict.fromkeys([*inputs, *(v for v in kept if v in own)]))
    return inputs, [v for v in kept if v not in own], known.eqns


def forward_jaxpr(jaxpr: Any, forward: Sequence[Any], outs: Sequence[Any]) -> Any:
    """Some equations of a jaxpr as a jaxpr with these results; what they read from elsewhere are its arguments."""
    made = {value for eqn in forward for value in eqn.outvars}
    free = dict.fromkeys(v for eqn in forward for v in variables(eqn.invars) if v not in made)
    return jaxpr.replace(
        constvars=[],
        invars=list(free),
        outvars=list(outs),
        eqns=list(forward),
        effects=_core.join_effects(*(eqn.effects for eqn in forward)),
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )


def is_jaxpr(value: Any) -> bool:
    """Whether a parameter of an equation is a jaxpr, closed or not."""
    return issubclass(type(value), _JAXPRS)
