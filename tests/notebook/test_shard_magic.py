"""`%%shard` in a shell: what it searches, what it shows, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.error import UsageError
from magic_shell import Shell, fresh_shell

CELL = """%%shard -t cpu:8 --confirm 0 --axes 2 -o found
import jax, jax.numpy as jnp
def step(params, x):
    gradient = jax.grad(lambda p: jnp.mean(jnp.square(jnp.tanh(x @ p["up"]) @ p["down"])))(params)
    return jax.tree.map(lambda p, g: p - g, params, gradient)
params = {"up": jax.ShapeDtypeStruct((16, 64), "float32"), "down": jax.ShapeDtypeStruct((64, 16), "float32")}
x = jax.ShapeDtypeStruct((4096, 16), "float32")
step(params, x)
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        shown = made.run(CELL)
        assert shown.ok, shown.text
        assert "best of all" in shown.text and "estimated, 0 compiled" in shown.text
        yield made


def test_a_cell_is_searched_and_its_options_hold(shell: Shell) -> None:
    found = shell["found"]
    assert found.whole and found.lost == 0 and found.tried == len(found.found.layouts)
    assert found.best.candidate.mesh == {"data": 8}
    shown = shell.run(
        "kept = %shard -q -t cpu:8 --confirm 0 --mesh a=2,b=4 --keep \"x: P('b')\" --no-replication step(params, x)"
    )
    assert shown.ok, shown.text
    layouts = shell["kept"].found.layouts
    assert {tuple(one.mesh.items()) for one in layouts} == {(("a", 2), ("b", 4))}
    assert {one.specs[-1] for one in layouts} == {(("b",), ())}
    assert not any(axis.is_unused for one in layouts if one.candidate for axis in one.candidate.axes)


REFUSED = {
    "--budget 0": "budget",
    "--budget soon": "'soon'",
    "--budget -1": "'-1'",
    "--mesh data=4,data=2": "two axes",
    "--mesh data=0": "positive",
    "--mesh data=4": "cpu:8 has 8",
    "--mesh data=8 --keep \"x: P('model')\"": "'model'",
    "--mesh data=8 --keep \"y: P('data')\"": "'y'",
    "--mesh data=8 --keep \"x: P(None, None, 'data')\"": "dimensions",
    "--mesh a=3": "3",
    "-t cpu:4": "one target",
    "--keep x": "--keep",
    "--axes 4": "'4'",
    "--in-spec \"x=P('data')\"": "--mesh",
}


def test_a_mistake_is_one_line(shell: Shell) -> None:
    for options, word in REFUSED.items():
        seen = shell.run(f"%shard -q --confirm 0 -t cpu:8 {options} step(params, x)")
        assert isinstance(seen.error, UsageError), (options, seen.error, seen.text)
        assert word in str(seen.error) and "\n" not in str(seen.error), options
    seen = shell.run("%shard -q --confirm 0 -t cpu:1 step(params, x)")
    assert isinstance(seen.error, UsageError) and "one device" in str(seen.error)


def test_what_a_function_raises_is_shown_as_by_the_stages(shell: Shell) -> None:
    shell.run("def wrong(params, x):\n    raise ZeroDivisionError('planted')")
    for quiet in ("", "-q"):
        seen = shell.run(f"%shard {quiet} --confirm 0 -t cpu:8 wrong(params, x)")
        assert isinstance(seen.error, ZeroDivisionError)
        assert "planted" in seen.text and "find_shardings.py" not in seen.text
        assert len(seen.panels) == (not quiet)
