"""`%%shard` in a shell: what it searches, what it shows, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.error import UsageError

CELL = """
import jax, jax.numpy as jnp
def step(params, x):
    gradient = jax.grad(lambda p: jnp.mean(jnp.square(jnp.tanh(x @ p["up"]) @ p["down"])))(params)
    return jax.tree.map(lambda p, g: p - g, params, gradient)
params = {"up": jax.ShapeDtypeStruct((16, 64), "float32"), "down": jax.ShapeDtypeStruct((64, 16), "float32")}
x = jax.ShapeDtypeStruct((4096, 16), "float32")
step(params, x)
"""


@pytest.fixture(scope="module")
def space(ip: Any) -> dict[str, Any]:
    ip.run_cell_magic("shard", "-q -t cpu:8 --confirm 0 --axes 2 -o found", CELL)
    space: dict[str, Any] = ip.user_ns
    return space


def test_a_cell_is_searched_and_its_options_hold(ip: Any, space: dict[str, Any]) -> None:
    found = space["found"]
    assert found.whole and found.lost == 0 and found.tried == len(found.found.layouts)
    assert found.best.candidate.mesh == {"data": 8}
    ip.run_line_magic(
        "shard", "-q -t cpu:8 --confirm 0 -o kept --mesh a=2,b=4 --keep \"x: P('b')\" --no-replication step(params, x)"
    )
    layouts = space["kept"].found.layouts
    assert {tuple(one.mesh.items()) for one in layouts} == {(("a", 2), ("b", 4))}
    assert {one.specs[-1] for one in layouts} == {(("b",), ())}
    assert not any(axis.is_unused for one in layouts if one.candidate for axis in one.candidate.axes)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("-t cpu:8 --budget 0 step(params, x)", "budget"),
        ("-t cpu:8 --budget soon step(params, x)", "soon"),
        ("-t cpu:8 --mesh data=4 step(params, x)", "cpu:8 has 8"),
        ("-t cpu:8 --mesh data=8 --keep \"x: P('model')\" step(params, x)", "model"),
        ("-t cpu:8 --mesh data=8 --keep \"y: P('data')\" step(params, x)", "'y'"),
        ("-t cpu:8 --mesh data=8 --keep \"x: P(None, None, 'data')\" step(params, x)", "dimensions"),
        ("-t cpu:8 --mesh a=3 step(params, x)", "3"),
        ("-t cpu:1 step(params, x)", "one device"),
        ("-t cpu:8 -t cpu:4 step(params, x)", "one target"),
        ("-t cpu:8 --keep x step(params, x)", "--keep"),
    ],
)
def test_a_mistake_is_one_line(ip: Any, space: dict[str, Any], line: str, word: str) -> None:
    with pytest.raises(UsageError) as refused:
        ip.run_line_magic("shard", f"-q --confirm 0 {line}")
    assert word in str(refused.value) and "\n" not in str(refused.value)
