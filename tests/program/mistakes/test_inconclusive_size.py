"""A comparison of a symbolic size that is neither true nor false: the constraints that decide it, applied."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import export

from jaxstage_ext import inspect
from jaxstage_ext.program.mistakes.argument_mistakes import constraints

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
}


def summed(compared: Callable[[Any, Any], Any], number: int) -> Callable[[Any], Any]:
    return lambda x: x.sum() if compared(x.shape[0], number) else x.max()


def shape(*constraints: str) -> jax.ShapeDtypeStruct:
    (size,) = export.symbolic_shape("b", constraints=constraints)
    return jax.ShapeDtypeStruct((size, 4), jnp.float32)


@pytest.mark.parametrize("name", [">", ">=", "<", "<="])
def test_either_constraint_decides_the_comparison(name: str) -> None:
    function = summed(OPERATORS[name], 8)
    with pytest.raises(Exception, match="is inconclusive") as raised:
        inspect(function, shape(), stage="trace")
    [note] = [note for note in raised.value.__notes__ if "constraints=" in note]
    so, otherwise = constraints("b", name, "8")
    assert so in note and otherwise in note
    for constraint, primitive in ((so, "reduce_sum"), (otherwise, "reduce_max")):
        assert primitive in inspect(function, shape(constraint), stage="trace").documents["jaxpr"].text


@pytest.mark.parametrize("name", [*OPERATORS])
def test_what_holds_and_what_does_not_are_apart(name: str) -> None:
    so, otherwise = constraints("b", name, "8")
    for b in range(4, 13):
        if eval(so):
            assert OPERATORS[name](b, 8)
        if eval(otherwise):
            assert not OPERATORS[name](b, 8)
    assert any(eval(so) for b in range(4, 13)) and any(eval(otherwise) for b in range(4, 13))


def test_of_two_symbols() -> None:
    assert constraints("b", ">", "2*n") == ("b >= 2*n + 1", "b <= 2*n")
    assert constraints("b", "<", "n") == ("b <= n - 1", "b >= n")
