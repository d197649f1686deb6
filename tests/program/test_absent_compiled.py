"""The executable of an absent target says what JAX's Compiled says.

The oracle is JAX's own Compiled of the same call here, beside one that a worker compiled for `cpu:4`: both are CPUs.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jaxstage_ext
from jaxstage_ext.report.unavailable import Unavailable

P = PartitionSpec


def step(params: Any, x: Any, unused: Any, *, scale: float) -> Any:
    return {"y": params["w"] @ x * scale, "z": (x.sum(),)}


def arguments(axis_types: Any = None) -> tuple[Any, ...]:
    devices = np.array(jax.devices()[:4]).reshape(2, 2)
    mesh = Mesh(devices, ("a", "b"), **({} if axis_types is None else {"axis_types": axis_types}))
    w = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P("a", None)))
    x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P(None, "b")))
    return {"w": w}, x, 3.0


def placed(value: Any) -> tuple[Any, ...]:
    """The spec without what is not sharded at its end, the mesh's axes, and the layout where there is one."""
    sharding, spec = getattr(value, "sharding", value), list(getattr(value, "sharding", value).spec)
    while spec and not spec[-1]:
        spec.pop()
    return spec, dict(sharding.mesh.shape), sharding.mesh.axis_types, getattr(value, "layout", None)


def same(ours: Any, theirs: Any) -> None:
    """JAX has a sharding for an argument that it drops too, and ours has None."""
    mine, treedef = jax.tree.flatten(ours, is_leaf=lambda leaf: leaf is None)
    jax_s, wanted = jax.tree.flatten(theirs, is_leaf=lambda leaf: leaf is None)
    assert treedef == wanted
    pairs = [(placed(one), placed(other)) for one, other in zip(mine, jax_s, strict=True) if one is not None]
    assert len(pairs) >= 2 and all(one == other for one, other in pairs)


ATTRIBUTES = ("input_shardings", "output_shardings", "input_formats", "output_formats")


def test_shardings_and_formats_are_those_of_a_compiled() -> None:
    jitted = jax.jit(step)
    compiled = jitted.lower(*arguments(), scale=2.0).compile()
    made = jaxstage_ext.inspect(jitted, *arguments(), scale=2.0, target="cpu:4").compiled
    for name in ATTRIBUTES:
        same(getattr(made, name), getattr(compiled, name))
    assert made.in_tree == compiled.in_tree and made.out_tree == compiled.out_tree
    assert jax.tree.leaves(made.args_info) == jax.tree.leaves(compiled.args_info)
    assert made.in_avals == compiled.in_avals and made.donate_argnums == compiled.donate_argnums
    shapes = [[(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(one.out_info)] for one in (made, compiled)]
    assert shapes[0] == shapes[1]
    assert {name for name in dir(compiled) if not name.startswith("_")} <= set(dir(made))


def test_a_tpu_s_formats_have_its_tiles() -> None:
    """XLA's own layout of the argument, in the module's first line: f32[8,128]{1,0:T(8,128)}."""
    needs("v5e:2x2")
    made = jaxstage_ext.inspect(lambda x: x * 2, jnp.ones((8, 128)), target="v5e:2x2").compiled
    assert "f32[8,128]{1,0:T(8,128)" in made.as_text().split("\n")[0]
    [given], _ = made.input_formats
    assert (given.layout.major_to_minor, given.layout.tiling) == ((0, 1), ((8, 128),))
    assert given.sharding.spec == P() and given.sharding.mesh.size == made.devices


def test_an_argument_that_is_not_used_has_none() -> None:
    made = jaxstage_ext.inspect(lambda x, unused: x * 2, jnp.ones(4), jnp.ones(3), target="cpu:1").compiled
    (used, unused), _ = made.input_shardings
    assert used.spec == P() and unused is None
    assert made.input_formats[0][1] is None


def test_a_call_says_what_it_is() -> None:
    made = jaxstage_ext.inspect(lambda x: x * 2, jnp.ones(4), target="cpu:2").compiled
    with pytest.raises(
        TypeError, match="was compiled for cpu:2 in a worker process, so it cannot be run here"
    ) as raised:
        made(jnp.ones(4))
    assert "\n" not in str(raised.value)
    assert made.runtime_executable() is None


def test_one_of_the_compile_log_says_another_reason() -> None:
    history = jaxstage_ext.compiles()
    jax.jit(lambda x: x * 17)(np.ones(3, np.float32))
    history = jaxstage_ext.compiles()
    made = history.inspect(history.records[-1].number).compiled
    with pytest.raises(TypeError, match="the compile log keeps no arguments"):
        made(np.ones(3, np.float32))
    with pytest.raises(Unavailable, match="its trees are unknown"):
        _ = made.input_shardings


def test_of_this_machine_it_is_jax_s_own() -> None:
    assert isinstance(jaxstage_ext.inspect(lambda x: x * 2, jnp.ones(4)).compiled, jax.stages.Compiled)
