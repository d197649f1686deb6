"""Both sides of a mismatch are named, with their devices, their mesh and their line, which JAX's own message has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxstage_ext import inspect
from jaxstage_ext.analysis.sharding import refusals

P = PartitionSpec


def on(first: int, last: int, *spec: str | None, axis: str = "d") -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[first:last]), (axis,)), P(*spec))


def array(first: int, last: int) -> Any:
    return jax.device_put(jnp.ones(8), on(first, last, "d"))


def failed(call: Callable[[], Any]) -> tuple[str, Any]:
    """What is said, and the Inspection."""
    with pytest.raises(ValueError, match=r"device") as raised:
        call()
    return raised.value.__notes__[0], raised.value.inspection  # type: ignore[attr-defined]


def constrained(x: Any) -> Any:
    return jax.lax.with_sharding_constraint(x * 2, on(0, 2, "d"))


def mapped(x: Any) -> Any:
    return jax.shard_map(lambda a: a * 2, mesh=on(0, 2).mesh, in_specs=P("d"), out_specs=P("d"))(x)


def nested(x: Any) -> Any:
    return jax.jit(lambda a: a * 2, in_shardings=on(0, 2, "d"))(x)


@pytest.mark.parametrize(
    ("fn", "what"), [(constrained, "with_sharding_constraint"), (mapped, "shard_map"), (nested, "An inner jit")]
)
def test_what_is_inside_the_function_has_its_line(fn: Callable[[Any], Any], what: str) -> None:
    told, inspection = failed(lambda: inspect(jax.jit(fn), array(0, 4)))
    line = fn.__code__.co_firstlineno + 1
    assert "x is on devices 0, 1, 2, 3 (mesh d=4)." in told
    assert f"{what} at " in told and f"test_devices_apart.py:{line} is on devices 0, 1 (mesh d=2)." in told
    assert inspection.error.span is not None
    assert (inspection.error.span.line, inspection.error.span.function) == (line, fn.__qualname__)
    assert f"{line} ✗" in str(inspection)


def test_the_shardings_of_the_result() -> None:
    told, _ = failed(lambda: inspect(jax.jit(lambda x: x * 2, out_shardings=on(0, 2, "d")), array(0, 4)))
    assert "out_shardings are on devices 0, 1 (mesh d=2)." in told and "move x with jax.device_put" in told


def test_the_mesh_that_is_set() -> None:
    def call() -> Any:
        with jax.set_mesh(on(0, 2).mesh):
            return inspect(jax.jit(lambda x: x * 2), array(0, 4))

    assert "The mesh of jax.set_mesh is on devices 0, 1 (mesh d=2)." in failed(call)[0]


def test_arrays_of_single_devices() -> None:
    x, y = (jax.device_put(jnp.ones(8), jax.devices()[at]) for at in (1, 2))
    told, _ = failed(lambda: inspect(jax.jit(lambda x, y: x + y), x, y))
    assert told.startswith("x is on device 1. y is on device 2. A program runs on one set of devices")


def test_shardings_that_agree_in_all_but_the_mesh_are_told_apart() -> None:
    told, _ = failed(lambda: inspect(jax.jit(lambda x: x * 2, in_shardings=on(0, 2, "d")), array(0, 4)))
    assert "lies as P('d') on devices 0, 1, 2, 3 (mesh d=4), and" in told
    assert "want P('d') on devices 0, 1 (mesh d=2): move it" in told


def test_the_advice_works() -> None:
    sharding = on(0, 2, "d")
    for jitted in (jax.jit(constrained), jax.jit(lambda x: x * 2, in_shardings=sharding)):
        np.testing.assert_allclose(jitted(jax.device_put(array(0, 4), sharding)), 2 * np.ones(8))


@pytest.mark.parametrize(
    ("ids", "words"),
    [((3,), "device 3"), (tuple(range(512)), "devices 0 to 511"), (tuple(range(0, 40, 4)), "devices 0, 4, 8")],
)
def test_many_devices_are_shortened(ids: tuple[int, ...], words: str) -> None:
    assert refusals.devices(ids).startswith(words)


def test_an_abstract_mesh_has_a_size_alone() -> None:
    message = (
        "Received incompatible devices for jitted computation. Got argument x of f with shape float32[8] and with "
        "device ids [0, 1] on platform CPU and shard_map inside jit as AbstractMesh of size 4 at /a/b.py:3:7 (f)"
    )
    x, other = refusals.sides_apart(message)
    assert (x.ids, other.ids, other.size, other.at) == ((0, 1), None, 4, "/a/b.py:3")
    assert other.sentence() == "shard_map at /a/b.py:3 is on an abstract mesh of size 4."
