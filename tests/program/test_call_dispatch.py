"""What a call does before its program runs, against JAX's transfer guards and the calls of its Python path."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import pjit
from jax.experimental.layout import Format, Layout
from magic_shell import fresh_shell

import jaxstage_ext
from jaxstage_ext.program.behaviour.call_dispatch import AS_IT_IS, FROM_HOST, MOVED, RELAID, RESHARDED, UNKNOWN, UNUSED
from jaxstage_ext.report.unavailable import Unavailable

MESH = jax.make_mesh((2,), ("d",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Auto,))
ROWS = jax.NamedSharding(MESH, jax.P("d"))
SPLIT = jax.device_put(jnp.ones((8, 4)), ROWS)


def product(x: Any, y: Any) -> Any:
    return x @ y


def guarded(fn: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """What the transfer guards of JAX say of the call's second argument."""
    fn(*args)
    for guard, done in (
        (jax.transfer_guard_host_to_device, FROM_HOST),
        (jax.transfer_guard_device_to_device, RESHARDED),
    ):
        try:
            with guard("disallow"):
                fn(*args)
        except Exception as error:
            assert "Disallowed" in str(error)
            return done
    return AS_IT_IS


@pytest.mark.parametrize(
    ("x", "y", "placed"),
    [
        (jnp.ones((8, 4)), jnp.ones((4, 4)), 0),
        (jnp.ones((8, 4)), np.ones((4, 4)), 64),
        (jnp.ones((8, 4)), np.ones((4, 4), np.float32), 64),
        (SPLIT, jnp.ones((4, 4)), 64),
        (SPLIT, np.ones((4, 4), np.float32), 2 * 64),
        (SPLIT, jax.device_put(jnp.ones((4, 4)), jax.NamedSharding(MESH, jax.P())), 0),
    ],
)
def test_what_is_copied_is_what_the_guards_refuse(x: Any, y: Any, placed: int) -> None:
    fn = jax.jit(product)
    table = jaxstage_ext.inspect(fn, x, y).dispatch
    assert table["argument"] == ["x", "y"]
    assert table["at the call"] == [AS_IT_IS, guarded(fn, (x, y))]
    assert table["bytes"] == [0, placed]


def test_pytrees_unused_static_and_weak_arguments() -> None:
    def fn(p: Any, n: int, unused: Any, *, k: Any) -> Any:
        return p["w"] * n + k

    jitted = jax.jit(fn, static_argnums=1)
    table = jaxstage_ext.inspect(jitted, {"w": np.ones((3, 5)), "b": jnp.ones(3)}, 4, jnp.ones(7), k=2.0).dispatch
    rows = {row["argument"]: (row["at the call"], row["bytes"]) for row in table.rows()}
    assert rows == {"p['b']": (UNUSED, 0), "p['w']": (FROM_HOST, 60), "unused": (UNUSED, 0), "k": (FROM_HOST, 4)}
    assert "p['w'] is converted from float64 to float32 first." in table.notes
    assert "2 arguments of 4 are copied at each call: 64 B." in table.notes


def test_a_shape_lies_nowhere_and_a_worker_s_program_is_not_run_here() -> None:
    shape = jax.ShapeDtypeStruct((4, 4), jnp.float32)
    table = jaxstage_ext.inspect(jax.jit(product), jnp.ones((8, 4)), shape).dispatch
    assert (table["at the call"][1], table["bytes"][1]) == (UNKNOWN, None)
    with pytest.raises(Unavailable, match="is not compiled in this kernel"):
        _ = jaxstage_ext.inspect(product, shape, shape, target="cpu:2").dispatch


def printing(x: Any) -> Any:
    jax.debug.print("{}", x.sum())
    return x


def pure(x: Any) -> Any:
    return jax.pure_callback(np.asarray, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@pytest.mark.parametrize("fn", [lambda x: x * 2, pure, printing, lambda x: jax.random.split(jax.random.key(0))])
def test_the_fast_path_is_that_of_which_python_sees_nothing(fn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    whole = pjit._infer_params

    def watched(*args: Any) -> Any:
        seen.append(args)
        return whole(*args)

    jitted, x = jax.jit(fn), jnp.ones((2, 2))
    says_fast = jaxstage_ext.inspect(jitted, x).dispatch.notes[-1].startswith("Fast path")
    monkeypatch.setattr(pjit, "_infer_params", watched)
    jitted(x), jitted(x)
    before = len(seen)
    jax.block_until_ready(jitted(x))
    jax.effects_barrier()
    assert says_fast is (len(seen) == before)


def python_calls(fn: Callable[..., Any], args: tuple[Any, ...]) -> set[str]:
    """The functions of JAX's that a call runs, after two of the same."""
    seen: set[str] = set()

    def watched(frame: Any, event: str, _: Any) -> None:
        if event == "call" and "site-packages/jax/" in frame.f_code.co_filename:
            seen.add(frame.f_code.co_name)

    fn(*args), fn(*args)
    sys.setprofile(watched)
    try:
        fn(*args)
    finally:
        sys.setprofile(None)
    return seen


TRANSPOSED = Format(Layout((1, 0)), jax.sharding.SingleDeviceSharding(jax.devices()[0]))


@pytest.mark.parametrize(
    ("options", "x", "done", "placed"),
    [
        ({}, jnp.ones((8, 4)), AS_IT_IS, 0),
        ({}, np.ones((8, 4), np.float32), FROM_HOST, 128),
        ({}, SPLIT, AS_IT_IS, 0),
        ({"in_shardings": ROWS}, jnp.ones((8, 4)), RESHARDED, 128),
        ({"in_shardings": ROWS}, np.ones((8, 4), np.float32), FROM_HOST, 128),
        ({"in_shardings": TRANSPOSED}, jnp.ones((8, 4)), RELAID, 128),
    ],
)
def test_python_takes_part_where_it_is_said(options: Any, x: Any, done: str, placed: int) -> None:
    jitted = jax.jit(lambda x: x * 2, **options)
    table = jaxstage_ext.inspect(jitted, x).dispatch
    assert (table["at the call"], table["bytes"]) == ([done], [placed])
    assert ("in Python at each call" in table.notes[-1]) is bool(python_calls(jitted, (x,)))


def test_a_replica_that_lies_there_already_is_not_copied() -> None:
    x, y = jnp.ones((8, 4)), jnp.ones((8, 4))
    replicated = jax.device_put(x, jax.NamedSharding(MESH, jax.P()))
    shared = [x.unsafe_buffer_pointer() == part.data.unsafe_buffer_pointer() for part in replicated.addressable_shards]
    assert shared == [True, False]
    assert jaxstage_ext.inspect(jax.jit(jnp.add), SPLIT, y).dispatch["bytes"] == [0, 128]
    wants = jax.jit(lambda x: x + 1, in_shardings=jax.NamedSharding(MESH, jax.P()))
    assert jaxstage_ext.inspect(wants, x).dispatch["bytes"] == [x.nbytes]


def test_other_devices_none_references_and_given_executables() -> None:
    there = jax.device_put(jnp.ones((4, 4)), jax.devices()[1])
    assert jaxstage_ext.inspect(jax.jit(product), jnp.ones((4, 4)), there).dispatch["at the call"] == [MOVED, AS_IT_IS]
    assert jaxstage_ext.inspect(jax.jit(lambda x, y: x), there, None).dispatch["argument"] == ["x"]
    held = jax.new_ref(jnp.ones(4))

    def change(held: Any, x: Any) -> Any:
        held[...] = held[...] + x
        return x

    table = jaxstage_ext.inspect(jax.jit(change), held, jnp.ones(4)).dispatch
    assert table["at the call"] == [AS_IT_IS, AS_IT_IS]
    assert "jax.Ref" in table["given"][0]
    compiled = jax.jit(product).lower(there, there).compile()
    assert jaxstage_ext.inspect(compiled, there, there).dispatch.notes[-1].startswith("Fast path")
    assert python_calls(compiled, (there, there)) == {"__call__"}
    with jax.default_device(jax.devices()[0]):
        mapped = jaxstage_ext.inspect(jax.pmap(lambda x: x * 2), jnp.ones((2, 4))).dispatch
    assert "jax.pmap" in mapped.notes[-1]


def test_functions_that_are_not_jitted_say_so() -> None:
    assert "product is not jitted" in jaxstage_ext.inspect(product, SPLIT, np.ones((4, 4))).dispatch.notes[-1]


def test_the_magic_shows_the_table_and_runs_nothing() -> None:
    with fresh_shell() as shell:
        shell.run(
            "import numpy as np\nran = []\ndef noisy(x):\n    ran.append(1)\n    return x.sum()\nstep = jax.jit(noisy)"
        )
        seen = shell.run("%dispatch step(np.ones((4, 4)))")
        assert seen.value["bytes"] == [64]
        assert shell["ran"] == [1]  # the trace
        assert "copied from the host" in seen.text
        assert "Fast path" in seen.text
        assert shell.run("%dispatch step(x); step(w)").value[1]["at the call"] == [AS_IT_IS]
        told = shell.run("%dispatch")
        assert "name a call" in str(told.error)
        assert "is not compiled in this kernel" in str(shell.run("%dispatch -t cpu:2 step(x)").error)
        assert "%dispatch step(params, batch)" in shell.run("%dispatch?").text


def test_arguments_in_a_library_s_own_form_are_unknown() -> None:
    equinox = pytest.importorskip("equinox")
    layer = equinox.nn.Linear(4, 2, key=jax.random.key(0))
    with pytest.raises(Unavailable, match="in a form of its own, so what is copied of each is unknown"):
        _ = jaxstage_ext.inspect(equinox.filter_jit(lambda m, x: m(x)), layer, jnp.ones(4)).dispatch
