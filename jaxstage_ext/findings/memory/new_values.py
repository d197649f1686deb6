"""Which results are new values of which arguments: a step's parameters and state, not an activation or a gradient."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any
from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxstage_ext.analysis.memory import entry_values, memory_advice
from jaxstage_ext.analysis.memory.entry_values import ArgumentMemory, ResultMemory
from jaxstage_ext.core.derivative.rematerialization import BACKWARD
from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import memory

_RESULT = re.compile(r"result(?:\[\d+\])?")
_CALLS = ("jit", "pjit", "closed_call")
_MOSTLY = 0.5
"""Of a parameter's bytes, what has to have a new value; of all arguments' bytes, where a program has one result."""


class NewValue(NamedTuple):
    """An argument and the result that is its new value."""

    argument: ArgumentMemory
    result: ResultMemory


def undonated(program: Program) -> list[ArgumentMemory]:
    """The arguments whose new value is a result with memory of its own, and that are not donated."""
    return [pair.argument for pair in pairs(program) if not pair.argument.donated and not pair.argument.becomes]


def pairs(program: Program) -> list[NewValue]:
    """The arguments of which a result is the new value: those that it takes the memory of, and those of their types."""
    entry = memory.entry(program)
    if entry is None:
        return []
    arguments, results = entry_values.of_module(program.module, entry)
    is_state = states(program.jax_traced.jaxpr.jaxpr)
    if len(is_state) != len(results) - entry.tokens:
        is_state = [True] * (len(results) - entry.tokens)
    own = results[entry.tokens :]
    by_name = {argument.name: argument for argument in arguments}
    aliased = [NewValue(by_name[one.in_memory_of], one) for one in own if one.in_memory_of in by_name]
    free = [result for result, state in zip(own, is_state, strict=True) if state and result.in_memory_of is None]
    missed = [one for one in arguments if one.size and not one.donated and not one.becomes]
    updated = updates(program.jax_traced.jaxpr.jaxpr, program.jax_traced.jaxpr.consts)
    names = {one.name for at, one in enumerate(arguments) if at in updated}
    matched = _matched(missed, free, names)
    whole = Counter[str]()
    taken = {pair.argument.name for pair in aliased}
    matched = _matched([one for one in arguments if one.size and one.name not in taken], free)
    whole, found = Counter[str](), Counter[str]()
    for argument in arguments:
        whole[memory_advice.parameter(argument.name)] += argument.size or 0
    for argument, _ in (*aliased, *matched):
        found[memory_advice.parameter(argument.name)] += argument.size or 0
    mostly = {name for name, size in found.items() if size >= _MOSTLY * whole[name]}
    if len(own) == 1 and sum(found.values()) < _MOSTLY * sum(whole.values()):
        matched = []
    return [*aliased, *(pair for pair in matched if memory_advice.parameter(pair.argument.name) in mostly)]


def _matched(
    arguments: Sequence[ArgumentMemory], results: Sequence[ResultMemory], updated: Collection[str]
) -> list[ArgumentMemory]:
    """Parameters of the structure of a result; of the others, the arrays of which a result is an update."""
def _matched(arguments: Sequence[ArgumentMemory], results: Sequence[ResultMemory]) -> list[NewValue]:
    """Parameters of the structure of a result; of the others, the arrays of a type that as many results have."""
    by_root: dict[str, list[ArgumentMemory]] = {}
    by_result: dict[str, list[ResultMemory]] = {}
    for argument in arguments:
        by_root.setdefault(memory_advice.parameter(argument.name), []).append(argument)
    for result in results:
        name = _RESULT.match(result.name)
        by_result.setdefault(name[0] if name else result.name, []).append(result)
    found: list[NewValue] = []
    for root, held in list(by_root.items()):
        alike = next((name for name, made in by_result.items() if len(held) > 1 and _types(made) == _types(held)), None)
        if alike is not None:
            found += by_root.pop(root)
            del by_result[alike]
    left = [argument for held in by_root.values() for argument in held if argument.name in updated]
            found += map(NewValue, by_root.pop(root), by_result.pop(alike))
    left = [argument for held in by_root.values() for argument in held]
    wanted = Counter(memory_advice.type_of(argument) for argument in left)
    made: dict[tuple[str, int, int], list[ResultMemory]] = {}
    for result in (one for some in by_result.values() for one in some):
        made.setdefault(memory_advice.type_of(result), []).append(result)
    for argument in left:
        of_type = made.get(memory_advice.type_of(argument), [])
        if len(of_type) >= wanted[memory_advice.type_of(argument)]:
            found.append(NewValue(argument, of_type.pop(0)))
            wanted[memory_advice.type_of(argument)] -= 1
    return found


_IN_PLACE = (
    "dynamic_update_slice",
    "scatter",
    "scatter-add",
    "scatter_add",
    "scatter_mul",
    "scatter_min",
    "scatter_max",
)
_STEPS = ("add", "add_any", "sub", "mul", "select_n", "clamp", "max", "min", "convert_element_type", "copy")
"""What a step of an optimiser does to its state, where the program computes a derivative."""


_OF_WEIGHTS = ("dot_general", "conv_general_dilated", "ragged_dot")


def updates(jaxpr: Any, constants: Sequence[Any] = ()) -> set[int]:
    """The numbers of the inputs that a result is an update of: in place, as a loop's state, or as a step changes it.

    A step is that of a training, where the program computes a derivative, or of a simulation: nothing else is as large
    as what it changes, and it multiplies by no weights.
    """
    equations = [eqn for eqn, _ in jaxprs.nested_equations(jaxpr)]
    is_training = any(BACKWARD in tracebacks.name_stack(eqn) for eqn in equations)
    has_weights = any(eqn.primitive.name in _OF_WEIGHTS for eqn in equations)
    sizes = [_elements(each) for each in (*jaxpr.invars, *constants)]
    places = {var: at for at, var in enumerate(jaxpr.invars)}
    found: set[int] = set()
    for out in jaxprs.variables(jaxpr.outvars):
        is_alone = not has_weights and sum(sizes) < 2 * _elements(out)
        found |= {places[var] for var in _origins(out, jaxpr, is_training or is_alone) if var in places}
    return found


def _elements(value: Any) -> int:
    return math.prod(getattr(getattr(value, "aval", value), "shape", ()))


def _origins(out: Any, jaxpr: Any, takes_steps: bool) -> set[Any]:
    """The inputs of a jaxpr that one of its values is an update of."""
    makers = {made: eqn for eqn in jaxpr.eqns for made in eqn.outvars}
    inputs, todo, seen, found = set(jaxpr.invars), [out], set[Any](), set[Any]()
    while todo:
        var = todo.pop()
        if var in seen:
            continue
        seen.add(var)
        if var in inputs and var is not out:
            found.add(var)
        elif (eqn := makers.get(var)) is not None:
            todo += [each for each in _updated_by(eqn, var, takes_steps) if each.aval.shape == out.aval.shape]
    return found


def _updated_by(eqn: Any, var: Any, takes_steps: bool) -> list[Any]:
    """The operands that an equation makes a value of by changing it."""
    name, place = eqn.primitive.name, eqn.outvars.index(var)
    if name in _IN_PLACE:
        return jaxprs.variables(eqn.invars[:1])
    if name in _STEPS:
        return jaxprs.variables(eqn.invars) if takes_steps else []
    if name == "while":
        return jaxprs.variables([eqn.invars[eqn.params["cond_nconsts"] + eqn.params["body_nconsts"] + place]])
    if name == "scan":
        _, carry, slices = jaxprs.parts_of_scan(eqn.params, eqn.invars)
        return [] if slices or place >= len(carry) else jaxprs.variables([carry[place]])
    if name in _CALLS:
        inner = jaxprs.inner_jaxprs(eqn)[0]
        if len(inner.invars) == len(eqn.invars):
            [made] = jaxprs.variables([inner.outvars[place]]) or [None]
            numbers = {each: at for at, each in enumerate(inner.invars)}
            origins = _origins(made, inner, takes_steps) if made is not None else set()
            return jaxprs.variables([eqn.invars[numbers[each]] for each in origins if each in numbers])
    return []


def _types(values: Sequence[ArgumentMemory | ResultMemory]) -> list[tuple[str, int, int]]:
    return [memory_advice.type_of(value) for value in values]


def states(jaxpr: Any) -> list[bool]:
    """Of each result, whether it may be a new value: it is computed, and is not the gradient of something."""
    return [any(_is_state(each, jaxpr) for each in jaxprs.variables([out])) for out in jaxpr.outvars]


def _is_state(var: Any, jaxpr: Any) -> bool:
    makers = {made: eqn for eqn in jaxpr.eqns for made in eqn.outvars}
    if var not in makers:
        return False
    while (eqn := makers.get(var)) is not None:
        if BACKWARD in tracebacks.name_stack(eqn):
            return False
        if eqn.primitive.name in _CALLS:
            inner = jaxprs.inner_jaxprs(eqn)[0]
            out = inner.outvars[next(place for place, each in enumerate(eqn.outvars) if each is var)]
            return any(_is_state(each, inner) for each in jaxprs.variables([out]))
        arrays = [each for each in jaxprs.variables(eqn.invars) if each.aval.shape or not var.aval.shape]
        if len(arrays) != 1 or arrays[0].aval.shape != var.aval.shape:
            return True
        [var] = arrays
    return True
