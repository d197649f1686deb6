"""Loops of unknown length and conditionals: the least and the most that a program does, and what leaves it open."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.truth.expectation import Expectation, UserProgram, holds, rows

N = 256
PRODUCT = 2 * N**3
SQUARE = jax.ShapeDtypeStruct((N, N), jnp.float32)
LAYERS = jax.ShapeDtypeStruct((6, N, N), jnp.float32)
FLAG, INDEX = jax.ShapeDtypeStruct((), jnp.bool_), jax.ShapeDtypeStruct((), jnp.int32)


def deep(x: jax.Array) -> jax.Array:
    return x @ x @ x @ x


def shallow(x: jax.Array) -> jax.Array:
    return x @ x


def same(x: jax.Array) -> jax.Array:
    return x


def cond() -> UserProgram:
    """One product or three."""
    return UserProgram(lambda flag, x: lax.cond(flag, deep, shallow, x), (FLAG, SQUARE))


def switch() -> UserProgram:
    """None, one or three products."""
    return UserProgram(lambda i, x: lax.switch(i, [same, shallow, deep], x), (INDEX, SQUARE))


def equal_branches() -> UserProgram:
    """One product whichever branch runs."""
    return UserProgram(lambda flag, x: lax.cond(flag, lambda x: x @ x.T, shallow, x), (FLAG, SQUARE))


def cond_in_scan() -> UserProgram:
    """Six times one product or three."""

    def step(x: jax.Array, xs: Any) -> Any:
        layer, flag = xs
        return lax.cond(flag, lambda x: x @ layer @ layer @ layer, lambda x: x @ layer, x), None

    return UserProgram(
        lambda x, layers, flags: lax.scan(step, x, (layers, flags))[0],
        (SQUARE, LAYERS, jax.ShapeDtypeStruct((6,), jnp.bool_)),
    )


def until_converged() -> UserProgram:
    """A product an iteration, until a norm is small: Newton's iteration as a solver writes it."""
    return UserProgram(lambda x: lax.while_loop(lambda x: jnp.sum(x) < 1e9, shallow, x), (SQUARE,))


def while_after_work() -> UserProgram:
    """Three products, then one an iteration."""
    return UserProgram(lambda x: lax.while_loop(lambda x: jnp.sum(x) < 1e9, shallow, deep(x)), (SQUARE,))


def while_in_cond() -> UserProgram:
    """One product, or one an iteration of a loop."""

    def loop(x: jax.Array) -> jax.Array:
        return lax.while_loop(lambda x: jnp.sum(x) < 1e9, shallow, x)

    return UserProgram(lambda flag, x: lax.cond(flag, loop, shallow, x), (FLAG, SQUARE))


def counted_loop() -> UserProgram:
    """Seven products."""
    return UserProgram(lambda x: lax.fori_loop(0, 7, lambda i, x: x @ x, x), (SQUARE,))


def least(inspection: Any) -> float:
    return float(inspection.cost.work.flops_range.least)


def most(inspection: Any) -> float | None:
    return inspection.cost.work.flops_range.most  # type: ignore[no-any-return]


def counted(inspection: Any) -> float:
    return float(inspection.cost.work.total_flops)


def branches(inspection: Any) -> list[tuple[int, float]]:
    """(number, products) of the branch of least and of most work."""
    (reason,) = inspection.cost.work.flops_range.reasons
    return [(abs(branch.number), float(round(branch.amount / PRODUCT))) for branch in reason.branches]


def headline(inspection: Any) -> str:
    return str(inspection.cost.headline)


BY_HAND = "each product is 2 n^3 FLOPs; one branch of a conditional runs"
UNKNOWN_LENGTH = "how often it runs depends on values; an upper bound does not exist"


@rows(
    Expectation(cond, "cpu", "least FLOPs", least, PRODUCT, BY_HAND),
    Expectation(cond, "cpu", "most FLOPs", most, 3 * PRODUCT, BY_HAND),
    Expectation(cond, "cpu", "total FLOPs", counted, 3 * PRODUCT, "XLA and JAX count the most expensive branch"),
    Expectation(cond, "cpu", "branches", branches, [(0, 1.0), (1, 3.0)], "lax.cond runs branch 1 for True"),
    Expectation(cond, "cpu", "headline", headline, "33.6 MFLOP to 101 MFLOP", BY_HAND, ("at least",)),
    Expectation(cond, "v5e:2x2", "least FLOPs", least, PRODUCT, BY_HAND),
    Expectation(cond, "v5e:2x2", "most FLOPs", most, 3 * PRODUCT, BY_HAND),
    Expectation(cond, "h100", "least FLOPs", least, PRODUCT, BY_HAND + "; sums of split-K add 3 %", close=5e-2),
    Expectation(cond, "h100", "most FLOPs", most, 3 * PRODUCT, BY_HAND + "; sums of split-K add 3 %", close=5e-2),
    Expectation(cond, "h100", "branches", branches, [(0, 1.0), (1, 3.0)], "lax.cond runs branch 1 for True"),
    Expectation(cond, "h100", "headline", headline, "its true branch", "the true branch has three products"),
    Expectation(switch, "cpu", "least FLOPs", least, 1.0, "no product; the index is clamped once"),
    Expectation(switch, "cpu", "most FLOPs", most, 3 * PRODUCT, BY_HAND),
    Expectation(switch, "cpu", "branches", branches, [(0, 0.0), (2, 3.0)], "the order of lax.switch"),
    Expectation(switch, "v5e:2x2", "headline", headline, "1 FLOP to 101 MFLOP", "no product, but the index is clamped"),
    Expectation(equal_branches, "cpu", "least FLOPs", least, PRODUCT, BY_HAND),
    Expectation(equal_branches, "cpu", "most FLOPs", most, PRODUCT, BY_HAND),
    Expectation(equal_branches, "cpu", "headline", headline, "33.6 MFLOP,", BY_HAND, ("at least",)),
    Expectation(cond_in_scan, "cpu", "least FLOPs", least, 6 * PRODUCT, "six iterations of one product", close=1e-2),
    Expectation(cond_in_scan, "cpu", "most FLOPs", most, 18 * PRODUCT, "six iterations of three", close=1e-2),
    Expectation(until_converged, "cpu", "most FLOPs", most, None, UNKNOWN_LENGTH),
    Expectation(until_converged, "cpu", "least FLOPs", least, N * N, "the test adds up N * N", close=1e-2),
    Expectation(until_converged, "h100", "most FLOPs", most, None, UNKNOWN_LENGTH),
    Expectation(
        until_converged,
        "v5e:2x2",
        "headline",
        headline,
        "of unknown length may run any number of times, or none",
        UNKNOWN_LENGTH,
    ),
    Expectation(until_converged, "v5e:2x2", "headline FLOPs", headline, "(33.6 MFLOP with one iteration)", "2 n^3"),
    Expectation(while_after_work, "cpu", "least FLOPs", least, 3 * PRODUCT, "three products and no more", close=1e-2),
    Expectation(while_after_work, "cpu", "most FLOPs", most, None, UNKNOWN_LENGTH),
    Expectation(while_in_cond, "cpu", "least FLOPs", least, N * N, "the branch of no iteration", close=1e-2),
    Expectation(while_in_cond, "cpu", "most FLOPs", most, None, UNKNOWN_LENGTH),
    Expectation(while_in_cond, "cpu", "headline", headline, "33.6 MFLOP with one", "the branch of one product"),
    Expectation(counted_loop, "cpu", "least FLOPs", least, 7 * PRODUCT, "fori_loop runs seven times", close=1e-4),
    Expectation(counted_loop, "cpu", "headline", headline, "235 MFLOP,", "7 * 2 n^3", ("at least", "to ")),
)
def test_work_that_loops_and_branches_leave_open(expectation: Expectation) -> None:
    holds(expectation)
