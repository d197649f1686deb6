"""Plain programs whose work is counted by hand."""

from __future__ import annotations

import jax.numpy as jnp

from tests.truth.expectation import Expectation, UserProgram, header, holds, rows

BY_HAND = 2 * 64 * 128 * 32


def matmul() -> UserProgram:
    return UserProgram(lambda x, w: x @ w, (jnp.ones((64, 128)), jnp.ones((128, 32))))


def sine() -> UserProgram:
    return UserProgram(lambda x: jnp.sin(jnp.sin(x)), (jnp.ones((64, 128)),))


@rows(
    Expectation(sine, "local", "headline", lambda ins: ins.cost.headline, "0 FLOP and 16.4 k transcendentals", "2 m n"),
    Expectation(sine, "local", "header transcendentals", header("transcendentals"), "16.4 k", "2 m n"),
    Expectation(sine, "v5e:2x2", "header transcendentals", header("transcendentals"), "16.4 k", "2 m n"),
    Expectation(matmul, "local", "header transcendentals", header("transcendentals"), "", "a product has none"),
    Expectation(matmul, "local", "FLOPs", lambda ins: ins.cost.work.total_flops, BY_HAND, "2 m k n"),
    Expectation(matmul, "v5e:2x2", "FLOPs", lambda ins: ins.cost.work.total_flops, BY_HAND, "2 m k n"),
)
def test_a_hand_count(expectation: Expectation) -> None:
    holds(expectation)
