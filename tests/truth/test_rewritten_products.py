"""Products that XLA rewrote without their source stand on the line that the program has them on, marked as inferred."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxstage_ext

M, K = 100, 1000
A, V = jax.ShapeDtypeStruct((M, K), jnp.float32), jax.ShapeDtypeStruct((K,), jnp.float32)
SQUARE, B = jax.ShapeDtypeStruct((K, K), jnp.float32), jax.ShapeDtypeStruct((K,), jnp.float32)


def two_lines(x: Any, w: Any) -> Any:
    z = jnp.dot(x, w)  # the product
    return jnp.tanh(z)


def sum_of_squares(x: Any, w: Any) -> Any:
    y = x @ w  # the product
    return jnp.sum(y**2)


def iteration(x: Any, w: Any) -> Any:
    def step(state: Any) -> Any:
        v, n = state
        r = x @ v - w  # the product
        return v - 0.1 * r, n + 1

    return lax.while_loop(lambda state: state[1] < 10, step, (w, 0))[0]


def in_a_scan(x: Any, w: Any) -> Any:
    def step(v: Any, _: Any) -> Any:
        v = jnp.dot(x, v)  # the product
        return v / jnp.linalg.norm(v), None

    return lax.scan(step, w, None, length=10)[0]


def line_of_product(function: Callable[..., Any]) -> str:
    lines, first = inspect.getsourcelines(function)
    return (
        f"{__name__.rpartition('.')[2]}.py:{first + next(i for i, line in enumerate(lines) if '# the product' in line)}"
    )


@pytest.mark.parametrize("function", [two_lines, sum_of_squares, iteration, in_a_scan])
def test_the_line_of_a_product_with_a_vector_has_its_flops(function: Callable[..., Any]) -> None:
    """By hand: the jaxpr has one dot_general, of 2 m k FLOPs a run."""
    is_loop = function in (iteration, in_a_scan)
    found = jaxstage_ext.inspect(function, *((SQUARE, B) if is_loop else (A, V)))
    table = found.cost.by("line")
    [row] = [row for row in table.rows() if row["line"] and row["line"].endswith(line_of_product(function))]
    assert row["FLOPs"] == pytest.approx(10 * 2 * K * K if is_loop else 2 * M * K, rel=0.01)
    [product] = [row for row in found.cost.table.rows() if row["opcode"] == "dot"]
    assert product["line"] == row["line"]
    assert f"{row['line']} (inferred) takes" in found.answers["answer"][0]
    place = next(at for at, other in enumerate(table.rows()) if other["line"] == row["line"])
    assert "inferred" in table.remarks[place, "line"]
