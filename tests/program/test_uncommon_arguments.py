"""Arguments other than arrays on devices: tokens, objects with a shape alone, arrays in host memory, deleted ones.

What JAX does with each is its own: a jitted function takes a token, a Compiled does not; XLA writes host memory S(5).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from IPython.core.error import UsageError
from magic_shell import fresh_shell

from jaxstage_ext import inspect
from jaxstage_ext.core.inputs.captured import is_valueless
from jaxstage_ext.program.running import live_arrays

X = jnp.ones(3)


def threaded(token: Any, x: Any) -> Any:
    return x * 2, token


def test_a_token_is_an_argument_and_a_result() -> None:
    inspection = inspect(threaded, jax.lax.create_token(), X)
    text = str(inspection)
    assert "threaded(token: token, x: f32[3])" in text and "cannot be shown" not in text
    assert [value.name for value in inspection.memory.entry.arguments] == ["token", "x"]
    assert [value.shape for value in inspection.memory.entry.arguments] == ["token", "f32[3]"]
    assert inspection.memory.entry.arguments[0].size in (0, None)
    assert list(inspection.layouts.values["value"]) == ["x", "result[0]"]
    assert len(inspection.answers) == 5
    assert inspection.dispatch["given"][0] == "token" and list(inspection.dispatch["bytes"]) == [0, 0]
    with pytest.raises(ValueError, match="JAX runs no compiled function on a token"):
        inspection.execute()


class Shaped:
    shape, dtype = (4,), np.dtype(np.float32)


class Converting(Shaped):
    def __jax_array__(self) -> Any:
        return jnp.ones(4)


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        (Shaped(), True),
        (jax.ShapeDtypeStruct((4,), np.float32), True),
        (Converting(), False),
        (np.ones(4), False),
        (np.float32(1), False),
        (1.0, False),
        ("text", False),
        (X, False),
    ],
)
def test_what_has_a_shape_and_no_values(leaf: Any, expected: bool) -> None:
    assert is_valueless(leaf) is expected


def test_an_object_with_a_shape_alone_is_compiled_and_not_run() -> None:
    inspection = inspect(lambda a: a * 2, Shaped())
    assert list(inspection.dispatch["at the call"]) == ["unknown: a shape alone"]
    assert list(inspection.dispatch["given"]) == ["shape f32[4]"]
    with pytest.raises(ValueError, match="are shapes, which have no values to run on"):
        inspection.execute()
    with fresh_shell() as shell:
        shell.run("class A:\n    shape, dtype = (4,), jnp.float32.dtype")
        seen = shell.run("%compile -q --run (lambda a: a * 2)(A())")
    assert isinstance(seen.error, UsageError) and "are shapes; call it with arrays" in str(seen.error)


def test_the_host_s_memory_is_part_of_a_sharding() -> None:
    there = jax.device_put(X, jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host"))
    assert live_arrays.described(there, "x")[0].startswith("x: f32[3] device 0, pinned_host\n")
    assert live_arrays.described(X, "x")[0].startswith("x: f32[3] device 0\n")
    inspection = inspect(lambda x: x * 2, there)
    assert "S(5)" in inspection.compiled.as_text().split("\n")[0]
    assert list(inspection.shardings.table["sharding"]) == ["device 0, pinned_host"] * 2
    mesh = jax.make_mesh((2,), ("d",), devices=jax.devices()[:2])
    named = jax.device_put(jnp.ones(4), jax.NamedSharding(mesh, jax.P("d"), memory_kind="pinned_host"))
    assert live_arrays.described(named, "")[0].startswith("f32[4] P('d'), pinned_host on mesh d=2\n")


def test_a_deleted_array_holds_nothing() -> None:
    gone = jnp.ones(4)
    gone.delete()
    text, _ = live_arrays.described(gone, "gone")
    assert text == "gone: f32[4] device 0\nDeleted, as donation does: its devices hold nothing of it."
    both = live_arrays.described_all([("a", X), ("b", gone)])
    assert "Deleted, as donation does: b;" in both


def test_a_mismatch_is_told_in_one_line_without_a_panel() -> None:
    with fresh_shell() as shell:
        shell.run("a, b = (jax.device_put(jnp.ones(3), jax.devices()[at]) for at in (1, 2))")
        for magic in ("%dispatch", "%compile -q"):
            seen = shell.run(f"{magic} jax.jit(lambda a, b: a + b)(a, b)")
            assert isinstance(seen.error, ValueError)
            [line] = [line for line in seen.text.splitlines() if "ValueError" in line]
            assert "a is on device 1. b is on device 2." in line and "JAX says: Received incompatible devices" in line
