"""What a promotion infects: the values below are counted by hand, f32 values of (8, 64) have 2,048 bytes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext import inspect
from jaxstage_ext.analysis.dtypes.conversions import Conversion

W, X = jax.ShapeDtypeStruct((64, 64), jnp.bfloat16), jax.ShapeDtypeStruct((8, 64), jnp.bfloat16)
SCALE = jax.ShapeDtypeStruct((64,), jnp.float32)
SIZE = 8 * 64 * 4


def conversions(fn: Any, *args: Any) -> list[Conversion]:
    return list(inspect(fn, *args, stage="trace").dtypes.conversions)


def infections(fn: Any, *args: Any) -> list[tuple[int, int | None, int, int]]:
    """(line of the function, values, bytes, line that it is because of) of each promotion."""
    first = fn.__code__.co_firstlineno
    return [
        (_line(one.line) - first, one.infects, one.infected, _line(one.because) - first if one.because else 0)
        for one in conversions(fn, *args)
        if one.kind == "promotion"
    ]


def _line(label: str) -> int:
    return int(label.rpartition(":")[2])


def test_up_to_the_next_conversion_through_a_loop_and_in_program_order() -> None:
    def forward(w, scale, x):
        y = (x @ w) * scale  # 1: the product
        z = jax.nn.relu(jnp.tanh(y @ w))  # 3: dot, tanh, max
        c, _ = jax.lax.scan(lambda c, _: (c * 2 + z, None), z, None, length=3)  # 2: mul, add
        out = c.astype(jnp.bfloat16)
        late = out * np.float32(3)  # 1
        return out, late + 1  # 1

    assert infections(forward, W, SCALE, X) == [(1, 6, 6 * SIZE, 0), (5, 2, 2 * SIZE, 0)]


def test_a_conversion_to_match_an_infected_value_is_because_of_the_first() -> None:
    def matched(scale, x, v):
        y = x * scale  # 1
        return y + v  # 1, for which v is converted

    def asked_for(scale, x, v):
        y = x * scale  # 1
        return y + v.astype(jnp.float32)  # the sum belongs to the first

    assert infections(matched, SCALE, X, X) == [(1, 2, 2 * SIZE, 0), (2, 0, 0, 1)]
    assert infections(asked_for, SCALE, X, X) == [(1, 2, 2 * SIZE, 0), (2, 0, 0, 0)]


def test_what_is_f32_by_itself_is_not_infected() -> None:
    def apart(scale, x):
        y = x * scale  # 1
        return y, jnp.sin(scale) + 1

    assert infections(apart, SCALE, X) == [(1, 1, SIZE, 0)]


def test_a_carry_infects_the_next_iteration() -> None:
    """The scale is f32, so the carry is; `c + 1` before it is reached only by the iteration before."""

    def carried(scale, x, c):
        def body(c, _):
            before = c + 1  # 1
            return before + (x * scale), None  # 2

        return jax.lax.scan(body, c, None, length=3)

    f32 = jax.ShapeDtypeStruct((8, 64), jnp.float32)
    assert [found[1:] for found in infections(carried, SCALE, X, f32)] == [(3, 3 * SIZE, 0)]


def test_without_a_promotion_nothing_is_said() -> None:
    def demoted(scale):
        return scale.astype(jnp.bfloat16) * 2

    assert [one.infects for one in conversions(demoted, SCALE)] == [None]
    assert "promoted" not in str(inspect(demoted, SCALE, stage="trace").dtypes.headline)


def test_the_headline_begins_with_the_first_and_names_the_largest() -> None:
    def two(w, scale, x):
        small = (x[:1] * scale).astype(jnp.bfloat16)
        large = x * scale
        return small, jnp.tanh(large) @ w

    said = str(inspect(two, W, SCALE, X, stage="trace").dtypes.headline)
    first = two.__code__.co_firstlineno
    assert said.index(f":{first + 1}; 1 later value (256 B)") < said.index(f":{first + 2}; 3 later values (6.14 kB)")
