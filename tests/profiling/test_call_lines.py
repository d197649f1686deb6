"""A small loop that XLA:CPU runs as one call: its time stands on the line that does the work, and is inferred."""

from __future__ import annotations

import inspect
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.profiling.analysis.test_real_programs import profiled

X, K = jnp.ones((64, 32, 64)), jnp.ones((32, 32, 3))


def convolved(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=("NCH", "OIH", "NCH"))


@jax.jit
def repeated(x: Any, k: Any) -> Any:
    return lax.fori_loop(0, 4, lambda i, v: jnp.tanh(convolved(v, k)), x)


def test_the_time_of_a_hoisted_loop_stands_on_the_line_of_its_convolution() -> None:
    """By hand: the convolution is 100 of the 102 MFLOP. XLA records one event of the call, or the convolution's own.

    With events of its own the line that leads is by their times: a machine under load may stop the thread in a tanh.
    """
    timeline, _, _ = profiled(lambda: repeated(X, K), steps=1)
    _, first = inspect.getsourcelines(convolved)
    lines = {row["line"]: row for row in timeline.by_line().rows() if row["line"]}
    [line] = [line for line in lines if line.endswith(f"test_call_lines.py:{first + 1}")]
    assert lines[line]["self"] > 0
    of_line: dict[bool, float] = {True: 0.0, False: 0.0}
    ops = {str(row["op"]): row["busy"] for row in timeline.by_op().rows()}
    for op, busy in ops.items():
        of_line[op.startswith(("call", "conv"))] += busy
    if timeline.headline.line:  # unknown where XLA leaves out events
        assert (timeline.headline.line == line) == (of_line[True] > of_line[False])
        assert timeline.headline.is_inferred == any(op.startswith("call") for op in ops)
