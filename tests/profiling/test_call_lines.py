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
    """By hand: the convolution is 100 of the 102 MFLOP. XLA records one event of the call, or the convolution's own."""
    timeline, _, _ = profiled(lambda: repeated(X, K), steps=1)
    _, first = inspect.getsourcelines(convolved)
    lines = {row["line"]: row for row in timeline.by_line().rows() if row["line"]}
    [line] = [line for line in lines if line.endswith(f"test_call_lines.py:{first + 1}")]
    assert lines[line]["self"] > 0
    if timeline.headline.line:  # unknown where XLA leaves out events
        assert timeline.headline.line == line
        calls = [row for row in timeline.by_op().rows() if str(row["op"]).startswith("call")]
        assert timeline.headline.is_inferred == bool(calls)
