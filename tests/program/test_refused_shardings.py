"""Calls that JAX refuses for their shardings: the argument is named and what was asked for is shown."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.analysis.sharding import refusals
from jaxstage_ext.analysis.sharding.value_tables import Shardings


def matmul(params, x):
    return x @ params["w"]


def mesh() -> Mesh:
    return jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def refused(function: Any, *arguments: Any) -> Shardings:
    with pytest.raises(ValueError, match=r"divi|incompatible") as raised:
        inspect(function, *arguments)
    return raised.value.inspection.shardings  # type: ignore[attr-defined, no-any-return]


def numbers(sentence: str) -> list[int]:
    """Of a dimension that does not divide: its number, its size, the parts, and the next size that divides.

    They are the last in the sentence, which begins with the type of the value where JAX gives it.
    """
    return [int(number) for number in re.findall(r"\b\d+\b", sentence)][-4:]


def test_an_argument_that_does_not_divide() -> None:
    open_, sharded = NamedSharding(mesh(), P()), NamedSharding(mesh(), P(("data", "model")))
    jitted = jax.jit(matmul, in_shardings=({"w": open_}, sharded))
    found = refused(jitted, {"w": jnp.ones((8, 8))}, jnp.ones((7, 8)))
    assert found.notes[0].startswith("x")
    assert numbers(found.notes[0]) == [0, 7, 4, 8] and "P(('data', 'model'), None)" in found.notes[0]
    value = found["x"].map
    assert value.is_uneven
    assert [part[0] for part in value.slices().values()] == [slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 7)]


def test_a_result_that_does_not_divide() -> None:
    jitted = jax.jit(matmul, out_shardings=NamedSharding(mesh(), P(None, "model")))
    found = refused(jitted, {"w": jnp.ones((8, 5))}, jnp.ones((7, 8)))
    assert "result" in found.notes[0]
    assert numbers(found.notes[0])[:3] == [1, 5, 2]


def test_a_shard_map_that_does_not_divide() -> None:
    function = jax.shard_map(lambda v: v, mesh=mesh(), in_specs=P("data"), out_specs=P("data"))
    found = refused(function, jnp.ones(7))
    [note] = found.notes
    assert note.startswith("v: ") and numbers(note) == [0, 7, 2, 8] and "P('data')" in note


def test_arguments_on_different_devices() -> None:
    first, second = (Mesh(jax.devices()[a:b], ("x",)) for a, b in ((0, 2), (2, 4)))
    w = jax.device_put(jnp.ones((8, 8)), NamedSharding(first, P("x")))
    x = jax.device_put(jnp.ones((8, 8)), NamedSharding(second, P("x")))
    found = refused(jax.jit(matmul), {"w": w}, x)
    assert found.notes[:2] == (
        "params['w'] is on devices 0, 1 (mesh x=2).",
        "x is on devices 2, 3 (mesh x=2).",
    )
    assert found["x"].map.numbers.tolist() == [2, 3]
    assert [place.id for place in found.places] == [0, 1, 2, 3]


def test_other_errors_are_not_about_shardings() -> None:
    with pytest.raises(TypeError) as raised:
        inspect(lambda x: x @ jnp.ones((3, 3)), jnp.ones((8, 8)))
    with pytest.raises(ValueError, match="not lowered"):
        _ = raised.value.inspection.shardings  # type: ignore[attr-defined]


MESSAGE = (
    "{}NamedSharding(mesh={}('data': 2, 'model': 4, axis_types=(Auto, Auto)), spec={}, memory_kind=device) implies "
    "that array axis 1 is partitioned 4 times, but the dimension size is 6 (full shape: (8, 6), per-dimension tiling"
)


@pytest.mark.parametrize("kind", ["Mesh", "AbstractMesh"])
@pytest.mark.parametrize(
    ("start", "name"),
    [("One of pjit arguments with pytree key path p['w'] was given the sharding ", "p['w']"), ("Sharding ", "")],
)
@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("P(None, 'model')", "P(None, 'model')"),
        ("P('data', ('model',))", "P('data', 'model')"),
        ("P()", "P(None, None)"),
    ],
)
def test_every_form_of_the_message(kind: str, start: str, name: str, spec: str, wanted: str) -> None:
    found = refusals.indivisible(MESSAGE.format(start, kind, spec))
    assert found is not None
    assert (found.name, found.shape, found.axis, found.parts) == (name, (8, 6), 1, 4)
    assert found.sharding.spec == wanted


@pytest.mark.parametrize(
    "message", ["", "boom", MESSAGE.format("", "Mesh", "P('gone')"), MESSAGE.format("", "Mesh", "P(f())")]
)
def test_messages_that_cannot_be_read_are_left_alone(message: str) -> None:
    assert refusals.indivisible(message) is None
    assert refusals.sides_apart(message) == ()
