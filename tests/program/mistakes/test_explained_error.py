"""What an error means, for the mistakes that JAX's own message leaves a reader alone with."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax import export

import jaxstage_ext
from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.targets.target import parse_all

X = jnp.ones((4, 8))


def double(x: Any) -> Any:
    return x * 2


def failed(fn: Any, *args: Any, target: str = "local") -> Any:
    [only] = parse_all(target)
    error = run(Call(fn, args), targets=(only,)).summary()["error"]
    assert error is not None
    return error


@pytest.mark.parametrize("transform", [lambda f: jax.jit(lambda x: f(x)), lambda f: jax.grad(lambda x: f(x).sum())])
def test_a_compiled_object_where_jax_traces(transform: Any) -> None:
    compiled = jax.jit(double).lower(X).compile()
    assert "A Compiled is machine code for one signature" in failed(transform(compiled), X)["told"]


def test_ordered_callbacks_on_several_devices_are_named_by_their_lines() -> None:
    def noisy(x: Any) -> Any:
        jax.debug.print("{x}", x=x, ordered=True)
        return jax.lax.fori_loop(0, 3, lambda _, y: y + inner(y), x)

    def inner(y: Any) -> Any:
        jax.debug.callback(lambda y: None, y, ordered=True)
        return y

    mesh = jax.sharding.AbstractMesh((2,), ("data",))
    placed = jax.ShapeDtypeStruct((4, 8), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P("data")))
    error = failed(jax.jit(noisy), placed, target="cpu:2")
    lines = [noisy.__code__.co_firstlineno + 1, inner.__code__.co_firstlineno + 1]
    assert all(f"test_explained_error.py:{line}" in error["told"] for line in lines)
    assert "run on one device alone" in error["told"]
    assert "object at 0x" not in error["message"]


def test_symbolic_axes_ask_for_a_size() -> None:
    batch, _ = export.symbolic_shape("batch, length")
    shape = jax.ShapeDtypeStruct((batch, 8), jnp.float32)
    assert failed(double, shape)["told"] == "axis batch is symbolic: give a size with --dim batch=8."


@pytest.mark.parametrize(
    ("fn", "args", "told"),
    [
        (lambda x, mode: x, (X, "train"), "mode is a str, not an array: make it static with static_argnames='mode'"),
        (lambda x, f: f(x), (X, double), "f is a function, not an array: make it static"),
        (lambda x, table: x, (X, {"a": X, "name": "train"}), "table['name'] is a str, not an array: leave it out"),
    ],
)
def test_an_argument_that_is_no_array_is_named(fn: Any, args: tuple[Any, ...], told: str) -> None:
    error = failed(fn, *args)
    assert told in error["told"]
    assert " at 0x" not in error["message"]


def step(params: Any, x: Any) -> Any:
    return params["w"] @ x


@pytest.mark.parametrize(
    ("shardings", "told"),
    [
        (("PPP", None), "params['w']: P(None, None, 'data') is for 3 axes, and it has 2."),
        (({"v": "P"}, None), "in_shardings[0] of params has the keys ('v',), and the argument ('w',); one sharding"),
        ((None, None, None), "in_shardings has 3 entries, and the call 2 arguments (params, x)."),
        (
            ({"w": "-P"}, None),
            "params['w'] (float32[8@data,4]) lies as P('data'), and in_shardings of jit want P(",
        ),
    ],
)
def test_shardings_that_do_not_fit_name_the_argument(shardings: Any, told: str) -> None:
    mesh = jax.make_mesh((2,), ("data",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Explicit,))
    specs = {"P": jax.P("data"), "-P": jax.P(None, "data"), "PPP": jax.P(None, None, "data")}
    made = jax.tree.map(lambda name: jax.NamedSharding(mesh, specs[name]), shardings)
    w = jax.device_put(jnp.ones((8, 4)), jax.NamedSharding(mesh, jax.P("data")))
    x = jnp.ones((4, 3))
    given = w if "-P" in str(shardings) else np.ones((8, 4), np.float32)
    error = failed(jax.jit(step, in_shardings=made), {"w": given}, x)
    assert told in error["told"]
    assert "jaxstage_ext" not in error["message"]


def test_pmap_names_the_argument_whose_axis_differs() -> None:
    pmapped = jax.pmap(lambda a, b: a + b)
    assert failed(pmapped, jnp.ones((2, 3)), jnp.ones((1, 3)))["told"].startswith(("a: pmap maps", "b: pmap maps"))
    many = jax.device_count() * 2
    told = failed(pmapped, jnp.ones((many, 3)), jnp.ones((many, 3)))["told"]
    assert f"there are {jax.device_count()}: a has shape ({many}, 3), b has shape ({many}, 3)" in told


def test_what_inspect_raises_is_told_without_addresses_and_explained() -> None:
    def noisy(x: Any) -> Any:
        jax.debug.print("{x}", x=x, ordered=True)
        return x

    mesh = jax.make_mesh((2,), ("data",), devices=jax.devices()[:2])
    with pytest.raises(ValueError, match=r"1 device: \[OrderedDebugEffect\]") as caught:
        jaxstage_ext.inspect(noisy, jax.device_put(jnp.ones((4, 8)), jax.NamedSharding(mesh, jax.P("data"))))
    assert "run on one device alone" in caught.value.__notes__[0]


def test_other_errors_are_left_to_jax() -> None:
    assert failed(lambda x: x + jnp.ones(3), X)["told"] == ""


def test_pmap_runs_without_its_static_arguments() -> None:
    def scaled(factor: int, x: Any) -> Any:
        return factor * x

    x = np.ones((jax.device_count(), 4), np.float32)
    inspection = jaxstage_ext.inspect(jax.pmap(scaled, static_broadcasted_argnums=0), 3, x)
    np.testing.assert_array_equal(inspection.execute(), 3 * x)
    assert "factor=3" in inspection.summary()["signature"]
    donated = jaxstage_ext.inspect(jax.pmap(scaled, static_broadcasted_argnums=0, donate_argnums=1), 3, x)
    np.testing.assert_array_equal(donated.execute(), 3 * x)


def test_pmap_names_its_arguments_and_says_how_many_devices_there_are() -> None:
    """`told` of 9 elements on fewer devices, where every argument has 9; and of a scalar."""
    devices = jax.device_count()
    mapped = jax.pmap(lambda params, step, b: params["w"] + b, static_broadcasted_argnums=1)
    longer = jnp.ones((devices + 1, 2))
    text = failed(mapped, {"w": longer}, 3, longer)["told"]
    assert "params['w']" in text and f"there are {devices} device" in text and "another argument" not in text
    scalar = failed(mapped, {"w": jnp.ones((devices, 2))}, 3, 1.0)["told"]
    assert scalar.startswith("b: pmap maps an axis of it") and "in_axes" in scalar


def test_callbacks_for_an_absent_device_are_named_by_their_lines() -> None:
    def noisy(x: Any) -> Any:
        jax.debug.print("{x}", x=x)
        return x

    needs("v5e:2x2")
    text = failed(noisy, X, target="v5e:2x2")["told"]
    assert f"test_explained_error.py:{noisy.__code__.co_firstlineno + 1}" in text and "not for v5e:2x2" in text


def test_tables_of_a_pmap_name_its_arguments_without_the_static_ones() -> None:
    mapped = jax.pmap(lambda p, step, b: p["w"] * step + b, static_broadcasted_argnums=1, donate_argnums=2)
    inspection = jaxstage_ext.inspect(mapped, {"w": jnp.ones((2, 4))}, 3, jnp.ones((2, 4)))
    assert list(inspection.memory.arguments["argument"]) == ["p['w']", "b"]
    assert list(inspection.memory.arguments["donated"]) == [False, True]
    assert list(inspection.layouts.values["value"])[:2] == ["p['w']", "b"]
    assert "flat_args" not in str(inspection.shardings)
