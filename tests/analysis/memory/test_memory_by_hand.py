"""Memory of programs so small that what lives at their peak can be counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.analysis.memory.live_memory import Memory

X = jnp.ones((256, 256))
ONE = 256 * 256 * 4
HELD = jnp.asarray(np.random.default_rng(0).normal(size=(256, 256)), jnp.float32)
SMALL = 200
"""Bytes of counters and of tuples' tables of addresses, which the counts below leave out."""


pytestmark = pytest.mark.usefixtures("no_workers_left")


def of(function: Callable[..., Any], *arguments: Any, target: str = "local") -> Memory:
    return inspect(function, *arguments, stage="lower", target=target).memory


def elementwise(x: jax.Array) -> jax.Array:
    """One fusion: x, and the result."""
    return jnp.exp(jnp.sin(x) * 2 + 1)


def then_product(x: jax.Array) -> jax.Array:
    """A product reads x and what the fusion made of it."""
    return elementwise(x) @ x


def donated(x: jax.Array) -> jax.Array:
    """Elementwise, so that the result takes the place of x."""
    return jnp.sin(x) * 2


def donated_product(x: jax.Array) -> jax.Array:
    """A product reads x until its end: it is made elsewhere, and copied."""
    return x @ x


def handed_on(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A result that is an argument, not donated, is a copy."""
    return x, y + 1


def in_its_place(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The same with x donated: that result is x."""
    return x, y + 1


def twice(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The same value as two results lies in two places."""
    return (jnp.sin(x),) * 2


def loop(x: jax.Array) -> jax.Array:
    """x, the carry (which is the result), and the sine of the carry."""
    return jax.lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) @ x, x)


def while_loop(x: jax.Array) -> jax.Array:
    """x, and the carry that is changed in place and is the result."""
    return jax.lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.5), (0, x))[1]


def captured(x: jax.Array) -> jax.Array:
    """The captured array lives throughout."""
    return x * HELD


COUNTED: dict[str, tuple[Callable[..., Any], int, int, dict[str, int]]] = {
    "elementwise": (elementwise, 1, 2, {"argument": 1, "output": 1}),
    "then a product": (then_product, 1, 3, {"argument": 1, "temporary": 1, "output": 1}),
    "donated": (jax.jit(donated, donate_argnums=0), 1, 1, {"argument": 1}),
    "donated to a product": (jax.jit(donated_product, donate_argnums=0), 1, 2, {"argument": 1, "temporary": 1}),
    "handed on": (handed_on, 2, 4, {"argument": 2, "output": 2}),
    "handed on, donated": (jax.jit(in_its_place, donate_argnums=0), 2, 3, {"argument": 2, "output": 1}),
    "twice": (twice, 1, 3, {"argument": 1, "output": 2}),
    "loop": (loop, 1, 3, {"argument": 1, "temporary": 1, "output": 1}),
    "while loop": (while_loop, 1, 2, {"argument": 1, "output": 1}),
    "captured": (captured, 1, 3, {"argument": 1, "constant": 1, "output": 1}),
}


@pytest.mark.parametrize("case", COUNTED)
def test_what_lives_at_the_peak(case: str) -> None:
    function, takes, arrays, kinds = COUNTED[case]
    found = of(function, *[X] * takes)
    assert 0 <= found.space().peak - arrays * ONE <= SMALL
    large = [row for row in found.peak_set.rows() if row["size"] == ONE]
    assert {kind: sum(row["kind"] == kind for row in large) for kind in kinds} == kinds
    assert len(large) == arrays and all(row["padding"] == 0 for row in large)


@pytest.mark.parametrize(
    ("shape", "bytes_of"),
    [((5,), 512), ((4096, 3), 4 * 4096 * 4), ((8, 128), 8 * 128 * 4), ((9, 129), 16 * 256 * 4)],
    ids=["5", "4096x3", "8x128", "9x129"],
)
def test_tiles_of_a_tpu_are_filled_up(shape: tuple[int, ...], bytes_of: int) -> None:
    """A vector is filled up to 128 numbers; of a matrix the lesser axis to 4 rows, or to 8 and the other to 128."""
    needs("v5e:2x2")
    found = of(lambda x: jnp.cos(x), jnp.ones(shape), target="v5e:2x2")
    assert found.space().peak == 2 * bytes_of
    rows = list(found.peak_set.rows())
    assert [row["size"] for row in rows] == [bytes_of] * 2
    assert [row["padding"] for row in rows] == [bytes_of - int(np.prod(shape)) * 4] * 2
    assert found.stats["peak_memory_in_bytes"] == 2 * bytes_of
