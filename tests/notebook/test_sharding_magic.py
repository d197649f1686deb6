"""`%sharding`: what a user sees of live arrays, and of what they get wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext.notebook import sharding_magic

SETUP = """
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
x = jax.device_put(jnp.ones((16, 32)), NamedSharding(mesh, P("data")))
tree = {"w": x, "b": jnp.ones(3), "n": 3}
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        made.run(SETUP)
        yield made


def test_an_array(shell: Shell) -> None:
    assert shell.run("%sharding x").text.strip().split("\n") == [
        "x: f32[16,32] P('data', None) on mesh data=2, model=2",
        "f32[8,32] per device, 1.02 kB; each shard on 2 devices.",
        "slice         devices",
        "[0:8, 0:32]   0 1",
        "[8:16, 0:32]  2 3",
    ]


def test_a_notebook_has_it_drawn(shell: Shell) -> None:
    drawn = sharding_magic.shown("x", shell.ip.user_ns)._repr_html_()
    assert drawn is not None
    assert "device 3: [8:16, 0:32]" in drawn
    assert ">f32[8,32] per device, 1.02 kB; each shard on 2 devices.</p>" in drawn
    assert sharding_magic.shown("tree", shell.ip.user_ns)._repr_html_() is None
    refused = sharding_magic.shown("x.sharding, (7, 4)", shell.ip.user_ns)._repr_html_()
    assert refused is not None
    assert "JAX refuses it" in refused and "75% filled" in refused


def test_a_pytree_is_a_table(shell: Shell) -> None:
    text = shell.run("%sharding tree").text
    assert "tree['w']  f32[16,32]  P('data', None)" in text
    assert "tree['b']  f32[3]      device 0" in text


def test_a_sharding_with_a_shape_that_does_not_divide(shell: Shell) -> None:
    text = shell.run("%sharding x.sharding, (7, 4)").text
    assert "uneven, 13% padding" in text  # of 12.5%, rounded as in the front end
    assert "JAX refuses it" in text
    assert "should evenly divide the shape" in text


def test_local_names_of_a_function(shell: Shell) -> None:
    text = shell.run("def f(y):\n    get_ipython().run_line_magic('sharding', 'y')\nf(jnp.ones(5))").text
    assert "f32[5] device 0" in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "%sharding needs an array"),
        ("3", "int contains no jax.Array"),
        ("nowhere", "NameError: name 'nowhere' is not defined"),
        ("x +", "SyntaxError"),
        ("x.sharding", "a sharding alone has no shape"),
        ("x.sharding, 'abc'", "%sharding x.sharding, 'abc'"),
    ],
)
def test_mistakes_are_one_line(shell: Shell, line: str, message: str) -> None:
    seen = shell.run(f"%sharding {line}")
    assert not seen.ok
    assert message in seen.text
    assert "Traceback" not in seen.text
