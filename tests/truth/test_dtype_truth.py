"""Where values change their dtype: which bytes go to memory, what is a promotion, and what JAX narrows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext.analysis.dtypes.conversions import Change
from tests.truth.expectation import Expectation, UserProgram, holds, rows

ROWS, COLUMNS = 256, 512
ELEMENTS = ROWS * COLUMNS
HALF = jnp.bfloat16


def several_results() -> UserProgram:
    def several(x: jax.Array) -> tuple[jax.Array, ...]:
        y = jnp.sin(x.astype(jnp.float32))
        return y, y.astype(HALF), (x > 0).astype(jnp.int32)

    return UserProgram(several, (jnp.ones((ROWS, COLUMNS), HALF),))


def to_integers() -> UserProgram:
    return UserProgram(lambda x: x.astype(jnp.int32), (jnp.ones((ROWS, COLUMNS), HALF),))


def dequantized() -> UserProgram:
    return UserProgram(lambda x: x.astype(jnp.float32) * 0.1, (jnp.ones((ROWS, COLUMNS), jnp.int8),))


def widened() -> UserProgram:
    return UserProgram(lambda x: x.astype(jnp.int32) + 1, (jnp.ones((ROWS, COLUMNS), jnp.uint8),))


def normalized() -> UserProgram:
    def normalize(x: jax.Array) -> jax.Array:
        wide = x.astype(jnp.float32)
        return ((wide - wide.mean(0)) / jnp.sqrt(wide.var(0) + 1e-5)).astype(x.dtype)

    return UserProgram(normalize, (jnp.ones((ROWS, COLUMNS), HALF),))


def stacked() -> UserProgram:
    def stack(x: jax.Array) -> Any:
        def body(c: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            c = jnp.tanh(c)
            return c, c.astype(jnp.float32)

        return jax.lax.scan(body, x, None, length=4)

    return UserProgram(stack, (jnp.ones((ROWS, COLUMNS), HALF),))


def of_numpy() -> UserProgram:
    return UserProgram(lambda x, n: x * n, (np.ones(8), np.arange(8)))


def written(source: str, target: str) -> Callable[[Any], float]:
    """Bytes that the optimised module's converts between two dtypes write to memory."""

    def ask(inspection: Any) -> float:
        table = inspection.dtypes.table.rows()
        return sum(row["written"] for row in table if (row["stage"], row["from"], row["to"]) == ("HLO", source, target))

    return ask


def kinds(source: str, target: str) -> Callable[[Any], set[str]]:
    return lambda i: {row["kind"] for row in i.dtypes.table.rows() if (row["from"], row["to"]) == (source, target)}


def to_itself(inspection: Any) -> list[str]:
    return [row["from"] for row in inspection.dtypes.table.rows() if row["from"].removesuffix(" weak") == row["to"]]


def of_the_program(inspection: Any) -> list[Change]:
    return [one.kind for one in inspection.dtypes.conversions if one.stage == "jaxpr"]


def headline(inspection: Any) -> str:
    return str(inspection.dtypes.headline)


TARGETS = ("local", "v5e:2x2", "h100")
RESULT = "hand: the result of the program is in memory, 256 x 512 of"
INSIDE = "hand: what only other members of the fusion read stays in registers"
NUMPY = "numpy's and JAX's promotion rules: float and int are kinds of their own"


@rows(
    *(
        Expectation(several_results, target, "written as i32", written("bool", "i32"), 4 * ELEMENTS, f"{RESULT} 4 B")
        for target in TARGETS
    ),
    *(
        Expectation(several_results, target, "written as bf16", written("f32", "bf16"), 2 * ELEMENTS, f"{RESULT} 2 B")
        for target in ("local", "h100")
    ),
    *(
        Expectation(several_results, target, "written bf16 to f32", written("bf16", "f32"), 0, INSIDE)
        for target in TARGETS
    ),
    *(
        Expectation(to_integers, target, "written bf16 to i32", written("bf16", "i32"), 4 * ELEMENTS, f"{RESULT} 4 B")
        for target in TARGETS
    ),
    *(
        Expectation(to_integers, target, "kind bf16 to i32", kinds("bf16", "i32"), {"change"}, NUMPY)
        for target in TARGETS
    ),
    *(
        Expectation(to_integers, target, "kinds", of_the_program, [Change.CHANGE], NUMPY)
        for target in TARGETS
    ),
    Expectation(dequantized, "local", "kind i8 to f32", kinds("i8", "f32"), {"change"}, NUMPY),
    Expectation(dequantized, "h100", "written i8 to f32", written("i8", "f32"), 0, INSIDE),
    Expectation(widened, "local", "kind u8 to i32", kinds("u8", "i32"), {"promotion"}, NUMPY),
    Expectation(
        normalized, "h100", "written f32 to bf16", written("f32", "bf16"), 2 * ELEMENTS, f"{RESULT} 2 B"
    ),
    Expectation(
        stacked, "h100", "written bf16 to f32", written("bf16", "f32"), 4 * 4 * ELEMENTS,
        "hand: the stack of four float32 arrays is a result"
    ),
    *(
        Expectation(program, target, "conversions to itself", to_itself, [], "a dtype does not convert to itself")
        for target in TARGETS
        for program in (normalized, stacked)
    ),
    Expectation(
        of_numpy, "local", "note", lambda i: " ".join(i.dtypes.notes),
        "x is float64; JAX made it float32: jax_enable_x64 is off. n is int64; JAX made it int32",
        "numpy's defaults are 64 bits; JAX's documentation of jax_enable_x64"
    ),
)  # fmt: skip
def test_dtypes(expectation: Expectation) -> None:
    holds(expectation)
