"""Which inputs of a jaxpr a result is an update of, and does not only have the shape of."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import Any

from jaxstage_ext.core.derivative.rematerialization import BACKWARD
from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.core.jax_private.jaxpr_edits import CALLS

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
    size = sum(_elements(each) for each in (*jaxpr.invars, *constants))
    places = {var: at for at, var in enumerate(jaxpr.invars)}
    found: set[int] = set()
    makers = jaxprs.makers(jaxpr)
    for out in jaxprs.variables(jaxpr.outvars):
        is_alone = not has_weights and size < 2 * _elements(out)
        found |= {places[var] for var in _origins(out, places, makers, is_training or is_alone)}
    return found


def _elements(value: Any) -> int:
    return math.prod(getattr(getattr(value, "aval", value), "shape", ()))


def _origins(out: Any, inputs: Container[Any], makers: Mapping[Any, Any], takes_steps: bool) -> set[Any]:
    """Those inputs of a jaxpr that one of its values is an update of."""
    todo, seen, found = [out], set[Any](), set[Any]()
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
    if name in CALLS:
        inner = jaxprs.inner_jaxprs(eqn)[0]
        if len(inner.invars) == len(eqn.invars):
            numbers = {each: at for at, each in enumerate(inner.invars)}
            makers = jaxprs.makers(inner)
            made = jaxprs.variables([inner.outvars[place]])
            origins = {each for out in made for each in _origins(out, numbers, makers, takes_steps)}
            return jaxprs.variables([eqn.invars[numbers[each]] for each in origins])
    return []
