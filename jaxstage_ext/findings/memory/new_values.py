"""Which results are new values of which arguments: a step's parameters and state, not an activation or a gradient."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from jaxstage_ext.analysis.memory import entry_values, in_place, memory_advice
from jaxstage_ext.analysis.memory.entry_values import ArgumentMemory, ResultMemory
from jaxstage_ext.core.derivative.rematerialization import BACKWARD
from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.core.jax_private.jaxpr_edits import CALLS
from jaxstage_ext.findings.memory.entry_by_module import module_values
from jaxstage_ext.findings.memory.updated_inputs import updates
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import memory

_RESULT = re.compile(r"result(?:\[\d+\])?")
LEAST_ALONE = 1 << 20
"""Bytes of an array without a parameter of the structure of a result: smaller ones are of one type by chance."""
_MOSTLY = 0.5
"""Of a parameter's bytes, what has to have a new value; of all arguments' bytes, where a program has one result."""

_SUMS = ("add", "add_any")


class NewValue(NamedTuple):
    """An argument and the result that is its new value."""

    argument: ArgumentMemory
    result: ResultMemory


def undonated(program: Program) -> list[ArgumentMemory]:
    """The arguments whose new value is a result with memory of its own, and that are not donated."""
    return [pair.argument for pair in pairs(program) if not pair.argument.donated and not pair.argument.becomes]


@fact
def pairs(program: Program) -> list[NewValue]:
    """The arguments of which a result is the new value: those that it takes the memory of, and those of their types."""
    entry = memory.entry(program)
    if entry is None:
        return []
    arguments, results = module_values(program)
    is_state = states(program.jax_traced.jaxpr.jaxpr)
    if len(is_state) != len(results) - entry.tokens:
        is_state = [True] * (len(results) - entry.tokens)
    own = results[entry.tokens :]
    by_name = {argument.name: argument for argument in arguments}
    aliased = [NewValue(by_name[one.in_memory_of], one) for one in own if one.in_memory_of in by_name]
    free = [result for result, state in zip(own, is_state, strict=True) if state and result.in_memory_of is None]
    taken = {pair.argument.name for pair in aliased}
    updated = updates(program.jax_traced.jaxpr.jaxpr, program.jax_traced.jaxpr.consts)
    names = {one.name for at, one in enumerate(entry.arguments) if at in updated}
    matched = _matched([one for one in arguments if one.size and one.name not in taken], free, names)
    matched = _without_copied(program.module, matched, arguments, results, entry.tokens)
    whole, found = Counter[str](), Counter[str]()
    for argument in arguments:
        whole[memory_advice.parameter(argument.name)] += argument.size or 0
    for argument, _ in (*aliased, *matched):
        found[memory_advice.parameter(argument.name)] += argument.size or 0
    mostly = {name for name, size in found.items() if size >= _MOSTLY * whole[name]}
    if len(own) == 1 and sum(found.values()) < _MOSTLY * sum(whole.values()):
        matched = []
    return [*aliased, *(pair for pair in matched if memory_advice.parameter(pair.argument.name) in mostly)]


def _without_copied(
    module: Module,
    matched: Sequence[NewValue],
    arguments: Sequence[ArgumentMemory],
    results: Sequence[ResultMemory],
    tokens: int,
) -> list[NewValue]:
    """Those that XLA would not copy before it writes their new values over them."""
    rows, _ = entry_values.parameter_arrays(module)
    parameter = {argument.name: int(rows[at + tokens]) for at, argument in enumerate(arguments)}
    place = {result.name: at for at, result in enumerate(results)}
    return [
        pair
        for pair in matched
        if (pair.argument.size or 0) < LEAST_ALONE
        or not in_place.reads_elsewhere(module, parameter[pair.argument.name], place[pair.result.name])
    ]


def _matched(
    arguments: Sequence[ArgumentMemory], results: Sequence[ResultMemory], updated: Collection[str]
) -> list[NewValue]:
    """Parameters of the structure of a result; else the arrays that are updated, of types that as many results have."""
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
            found += map(NewValue, by_root.pop(root), by_result.pop(alike))
    left = [argument for held in by_root.values() for argument in held if argument.name in updated]
    wanted = Counter(memory_advice.type_of(argument) for argument in left)
    made: dict[tuple[str, int, int], list[ResultMemory]] = {}
    for result in (one for some in by_result.values() for one in some):
        made.setdefault(memory_advice.type_of(result), []).append(result)
    for argument in left:
        of_type = made.get(memory_advice.type_of(argument), [])
        if len(of_type) == wanted[memory_advice.type_of(argument)] and (argument.size or 0) >= LEAST_ALONE:
            found.append(NewValue(argument, of_type.pop(0)))
            wanted[memory_advice.type_of(argument)] -= 1
    return found


def _types(values: Sequence[ArgumentMemory | ResultMemory]) -> list[tuple[str, int, int]]:
    return [memory_advice.type_of(value) for value in values]


def states(jaxpr: Any) -> list[bool]:
    """Of each result, whether it may be a new value: it is computed, and is not the gradient of something."""
    makers = jaxprs.makers(jaxpr)
    return [any(_is_state(each, makers) for each in jaxprs.variables([out])) for out in jaxpr.outvars]


def _is_state(var: Any, makers: Mapping[Any, Any]) -> bool:
    if var not in makers:
        return False
    while (eqn := makers.get(var)) is not None:
        if BACKWARD in tracebacks.name_stack(eqn):
            return False
        if eqn.primitive.name in CALLS:
            inner = jaxprs.inner_jaxprs(eqn)[0]
            out = inner.outvars[next(place for place, each in enumerate(eqn.outvars) if each is var)]
            return any(_is_state(each, jaxprs.makers(inner)) for each in jaxprs.variables([out]))
        if eqn.primitive.name == "scan" and _starts_from_constants(eqn, var, makers):
            return False
        arrays = [each for each in jaxprs.variables(eqn.invars) if each.aval.shape or not var.aval.shape]
        if eqn.primitive.name in _SUMS and len(arrays) > 1:
            return any(each not in makers or _is_state(each, makers) for each in arrays)
        if len(arrays) != 1 or arrays[0].aval.shape != var.aval.shape:
            return True
        [var] = arrays
    return True


def _starts_from_constants(scan: Any, var: Any, makers: Mapping[Any, Any]) -> bool:
    """Whether a scan sums up something of its own, such as the gradients of several batches."""
    _, carry, _ = jaxprs.parts_of_scan(scan.params, scan.invars)
    place = scan.outvars.index(var)
    return place < len(carry) and _is_constant(carry[place], makers)


def _is_constant(value: Any, makers: Mapping[Any, Any]) -> bool:
    if not jaxprs.variables([value]):
        return True
    eqn = makers.get(value)
    return eqn is not None and all(_is_constant(each, makers) for each in eqn.invars)
