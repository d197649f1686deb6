"""A mesh and PartitionSpecs from outside: JAX's own text, and JAX's own objections with the argument named."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.layout.meshes import MeshError, parse

pytestmark = pytest.mark.usefixtures("kept_answers")

TESTS = Path(__file__).parents[2]
AXES = "data=4,model=2"
W, X = jnp.ones((16, 32)), jax.ShapeDtypeStruct((8, 16), jnp.float32)


def loss(w: Any, x: Any, scale: Any = 1.0) -> Any:
    return jax.lax.with_sharding_constraint(jnp.tanh(x @ w["kernel"]), P("data")).sum(0) * scale + w["bias"]


TREE = {"kernel": W, "bias": jnp.ones(32)}


def inspected(*args: Any, target: Any = "cpu:8", mesh: Any = AXES, **given: Any) -> Any:
    return jaxstage_ext.inspect(*(args or (loss, TREE, X)), target=target, mesh=mesh, **given)


@functools.cache
def equal() -> dict[str, bool]:
    done = subprocess.run(
        [sys.executable, str(TESTS / "helpers/mesh_oracle.py")],
        capture_output=True,
        text=True,
        timeout=280,
        env=os.environ | {"PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS / 'helpers'}"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


def test_the_text_is_that_of_jax_on_real_devices() -> None:
    assert len(equal()) == 22
    assert [case for case, same in equal().items() if not same] == []


def test_it_compiles_for_a_tpu_whose_devices_are_not_here() -> None:
    needs("v5e:2x4")
    inspection = inspected(target="v5e:2x4", in_specs={"x": P("data"), "w": {"kernel": P(None, "model"), "bias": None}})
    assert "num_partitions=8" in inspection.documents["hlo"].text
    assert "f32[16,16]" in inspection.documents["hlo"].text.splitlines()[0]
    assert lowered_modules.placed(inspection.lowered, loss).mesh == (4, 2)


def test_tracing_and_lowering_need_no_devices() -> None:
    inspection = inspected(target="local", stage="lower", in_specs=(P(), P("data")))
    assert '<["data"=4, "model"=2]>' in inspection.documents["stablehlo"].text
    assert inspected(target="local", stage="trace").documents["jaxpr"].text.count("sharding_constraint") >= 1


def test_what_was_given_is_told_and_saved() -> None:
    inspection = inspected(in_specs=({"kernel": P(None, "model"), "bias": None}, P("data")), out_specs=P("model"))
    told = inspection.summary()["notes"][0]
    assert told.startswith("Mesh data=4, model=2: w {'kernel': P(None, 'model'), 'bias': None}, x P('data'), result P(")
    again = jaxstage_ext.Inspection.from_json(inspection.to_json())
    assert told in again.summary()["notes"]


def test_a_large_tree_of_specs_is_told_by_their_numbers() -> None:
    layers = {f"layer {i}": {"kernel": P(None, "model"), "bias": P()} for i in range(20)}
    arrays = jax.tree.map(lambda spec: jnp.ones((4,) * max(1, len(spec))), layers, is_leaf=lambda s: isinstance(s, P))
    made = jaxstage_ext.inspect(
        lambda w: jax.tree.map(jnp.sin, w), arrays, mesh="model=2", in_specs=(layers,), stage="lower"
    )
    assert "Mesh model=2: w (40 leaves: 20 P(), 20 P(None, 'model')); the compiler" in made.summary()["notes"][0]


def test_one_for_all_arguments_as_in_jit() -> None:
    inspection = inspected(lambda x, y: x + y, X, X, in_specs=P("data"))
    assert inspection.documents["hlo"].text.splitlines()[0].count("f32[2,16]{1,0}") == 3


def test_a_mesh_of_ones_own_keeps_its_axis_types() -> None:
    mesh = AbstractMesh((8,), ("rows",), axis_types=(AxisType.Explicit,))
    inspection = inspected(lambda x: x * 2, X, mesh=mesh, in_specs=(P("rows"),))
    assert "f32[8@rows,16]" in inspection.documents["jaxpr"].text


def test_static_and_keyword_arguments() -> None:
    @functools.partial(jax.jit, static_argnames="n")
    def power(x: Any, n: int, *, by: Any) -> Any:
        return x**n * by

    inspection = inspected(power, X, 2, by=jax.ShapeDtypeStruct((16,), jnp.float32), in_specs={"by": P("model")})
    assert "f32[8]{0} parameter" in inspection.documents["hlo"].text
    with pytest.raises(MeshError, match="in_specs of n: it is static"):
        inspected(power, X, 2, by=1.0, in_specs=(None, P()))


def test_a_function_that_carries_its_mesh_keeps_it() -> None:
    mesh = AbstractMesh((4, 2), ("a", "b"))
    own = NamedSharding(mesh, P("a"))
    function = jax.jit(lambda x: x * 2, in_shardings=(own,))
    assert "f32[2,16]" in jaxstage_ext.inspect(function, X, target="cpu:8").documents["hlo"].text


WRONG = [
    ({"in_specs": {"xs": P("data")}}, ("in_specs", "'xs'")),
    ({"in_specs": (P(), P(), P())}, ("in_specs", "3", "2")),
    ({"in_specs": {"x": P("dat")}}, ("in_specs", "P('dat',)")),
    ({"in_specs": {"x": P("data", "data")}}, ("in_specs", "NamedSharding")),
    ({"in_specs": {"x": P(None, None, "data")}}, ("in_specs", "P(None", "'data'")),
    ({"in_specs": {"w": P("data", "model")}}, ("in_specs", "w['bias']", "P('data'", "'model'")),
    ({"in_specs": {"x": P("three")}, "mesh": "three=3"}, ("in_specs", "P('three')", "0")),
    ({"in_specs": {"w": {"k": P()}}}, ("in_specs",)),
    ({"in_specs": ("data",)}, ("in_specs", "w['bias']", "'data'", "PartitionSpec", "P('data'")),
    ({"in_specs": 3}, ("in_specs", "PartitionSpec", "3")),
    ({"out_specs": P("dat")}, ("out_specs",)),
    ({"mesh": None, "in_specs": P()}, ("in_specs", "data=4")),
    ({"mesh": "data=16"}, ("data=16", "8")),
    ({"mesh": "data=4096", "target": "local"}, ("data=4096", "4,096")),
    ({"mesh": {"data": "four"}}, ("data=4", "'data'", "'four'")),
    ({"mesh": 8}, ("'data=4,model=2'", "8")),
]


@pytest.mark.parametrize(("given", "facts"), WRONG)
def test_what_is_wrong_is_told_in_one_line(given: dict[str, Any], facts: tuple[str, ...]) -> None:
    with pytest.raises(MeshError) as caught:
        inspected(**given)
    assert all(fact in str(caught.value) for fact in facts)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["data", "data=", "data=x", "=4", "data=4,", "data=0", "data=4,data=2", "a=4 b=2"])
def test_an_unreadable_mesh_is_quoted(text: str) -> None:
    with pytest.raises(MeshError, match=r"data|''|=4|a=4 b=2"):
        parse(text)


def test_a_mesh_that_is_set_and_another_are_one_too_many() -> None:
    with jax.set_mesh(jax.make_mesh((1,), ("z",))):
        with pytest.raises(MeshError, match=r"jax\.set_mesh sets the mesh z=1, and mesh is data=4, model=2; drop one"):
            inspected()
        assert inspected(jnp.sin, X, mesh="z=1", target="cpu:1").error is None


def test_what_a_jitted_function_says_itself_is_not_said_twice() -> None:
    own = jax.jit(loss, in_shardings=NamedSharding(AbstractMesh((4, 2), ("a", "b")), P()))
    with pytest.raises(MeshError, match="jitted with in_shardings; drop them or in_specs"):
        inspected(own, TREE, X, in_specs=P())
    with pytest.raises(MeshError, match=r"already jitted; set out_shardings in its jax\.jit instead of out_specs"):
        inspected(jax.jit(loss), TREE, X, out_specs=P())
    with pytest.raises(MeshError, match=r"in_specs works with functions and jax\.jit objects"):
        inspected(jax.pmap(lambda x: x), jnp.ones((1, 2)), in_specs=P())
