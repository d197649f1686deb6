"""Plain programs whose work is counted by hand."""

from __future__ import annotations

import jax.numpy as jnp

from tests.truth.expectation import Expectation, UserProgram, holds, rows

BY_HAND = 2 * 64 * 128 * 32


def matmul() -> UserProgram:
    return UserProgram(lambda x, w: x @ w, (jnp.ones((64, 128)), jnp.ones((128, 32))))


@rows(
    Expectation(matmul, "local", "FLOPs", lambda ins: ins.cost.work.total_flops, BY_HAND, "2 m k n"),
    Expectation(matmul, "v5e:2x2", "FLOPs", lambda ins: ins.cost.work.total_flops, BY_HAND, "2 m k n"),
)
def test_a_hand_count(expectation: Expectation) -> None:
    holds(expectation)
