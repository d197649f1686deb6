"""Searches of programs that are not plain: jitted with shardings, of explicit axes, with callbacks, custom pytrees."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.api.find_shardings import ShardingSearch
from jaxstage_ext.program.searching import layout_confirmation, problem_wording
from jaxstage_ext.program.searching.choice_checks import NoSuchLayout, UnusableChoice
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_result import CompiledState, ScoredLayout

HERE = "cpu:4"


class Weights(NamedTuple):
    up: Any
    down: Any


def step(params: Weights, x: jax.Array, double: bool = False) -> Any:
    def loss(p: Weights) -> jax.Array:
        return jnp.mean(jnp.square(jnp.tanh(x @ p.up) @ p.down))

    value, gradient = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - g, params, gradient), value * (2 if double else 1)


def arguments() -> tuple[Weights, jax.Array]:
    return Weights(jnp.ones((16, 64)), jnp.ones((64, 16))), jnp.ones((1024, 16))


def searched(fn: Any, *args: Any, **how: Any) -> ShardingSearch:
    return jaxstage_ext.find_shardings(fn, *args, **{"target": HERE, "confirm": 0, "most_axes": 1, **how})


def mesh(kind: AxisType, name: str = "d") -> jax.sharding.Mesh:
    return jax.make_mesh((4,), (name,), axis_types=(kind,), devices=jax.devices()[:4])


def fsdp(search: ShardingSearch) -> ScoredLayout:
    return next(one for one in search.found.layouts if one.kind is LayoutKind.FSDP)


@pytest.fixture(scope="module")
def jitted() -> ShardingSearch:
    on = mesh(AxisType.Auto)
    split, whole = NamedSharding(on, P("d")), NamedSharding(on, P())
    own = jax.jit(step, in_shardings=(split, whole), out_shardings=(split, None), donate_argnums=0, static_argnums=2)
    return searched(own, *arguments(), True)


def test_shardings_of_a_jit_are_the_users_own_layout_and_in_no_other(jitted: ShardingSearch) -> None:
    assert jitted.own is not None and jitted.own.mesh == {"d": 4}
    assert jitted.own.specs == ((("d",), ()), (("d",), ()), ((), ()))
    assert jitted.best.kind is LayoutKind.DATA and jitted.best.specs[-1] == (("data",), ())
    assert problem_wording.JIT_LEFT_OUT in jitted.found.notes
    own, other = jitted.open(jitted.own.number), jitted.open(fsdp(jitted).number)
    shards = [[opened.shardings[name].map.shard_shape for name in ("params.up", "x")] for opened in (own, other)]
    assert shards == [[(4, 64), (1024, 16)], [(16, 16), (256, 16)]]


def test_code_for_a_jit_with_shardings_gives_the_layout(jitted: ShardingSearch) -> None:
    layout, (params, x) = fsdp(jitted), arguments()
    space: dict[str, Any] = {"params": params, "x": x, "step": jitted.program.call.fn}
    exec(jitted.code("device_put", layout.number), space)
    lowered = space["step"].lower(space["params"], space["x"], True)
    given, made = (
        jax.tree.leaves(one) for one in (lowered.compile().input_shardings, lowered.compile().output_shardings)
    )
    assert [one.spec for one in given] == [P(None, "fsdp"), P("fsdp"), P("fsdp")]
    assert [one.spec for one in made[:2]] == [P(None, "fsdp"), P("fsdp")]
    assert [info.donated for info in jax.tree.leaves(lowered.args_info)] == [True, True, False]


def test_code_of_a_custom_pytree_needs_no_value_that_is_not_there() -> None:
    params, x = arguments()
    search = searched(step, params, x)
    for form in ("device_put", "in_specs"):
        space: dict[str, Any] = {"params": params, "x": x, "step": step}
        exec(search.code(form, fsdp(search).number), space)
    assert space["out_specs"] == (Weights(P(None, "fsdp"), P("fsdp")), None)


def test_types_of_explicit_axes() -> None:
    """Axes of the arguments' types are the user's own layout; those that the function names fit no other mesh."""
    params, x = arguments()
    on = mesh(AxisType.Explicit)

    def names_an_axis(params: Weights, x: jax.Array) -> Any:
        return step(params, jax.reshard(x, P(None, "d")))

    with jax.set_mesh(on):
        given = jax.device_put(x, P("d"))
        assert searched(step, jax.device_put(params, P()), given).own is not None
        with pytest.raises(Unavailable) as refused:
            searched(names_an_axis, params, given)
    assert "explicit" in str(refused.value) and "\n" not in str(refused.value)


def test_callbacks_are_said_and_a_program_that_no_mesh_compiles_is_not_blamed_on_layouts() -> None:
    def told(params: Weights, x: jax.Array) -> Any:
        jax.debug.print("{}", x.sum())
        return step(params, x)

    def sent(params: Weights, x: jax.Array) -> Any:
        io_callback(np.asarray, None, x.sum(), ordered=True)
        return step(params, x)

    first = searched(told, *arguments(), confirm=1)
    assert problem_wording.CALLS_PYTHON in first.found.notes
    assert [one.compiled.state for one in first.found.layouts if one.compiled] == [CompiledState.COMPILED]
    second = searched(sent, *arguments(), confirm=3)
    assert len(second.found.notes) == 2 and not any(one.compiled for one in second.found.layouts)
    assert second.confirm(0).state is CompiledState.FAILED


class RunTwice(ThreadPoolExecutor):
    """Gives a result for each of two workers, as ipyparallel's DirectView does."""

    def submit(self, task: Any, *given: Any) -> Any:  # type: ignore[override]
        return super().submit(lambda: [task(*given), task(*given)])


def test_executors_that_cannot_be_used_are_one_line() -> None:
    gone = ThreadPoolExecutor(1)
    gone.shutdown()
    with RunTwice(1) as twice:
        for executor, word in ((gone, "shutdown"), (twice, "load_balanced_view")):
            with pytest.raises(Unavailable) as refused:
                searched(step, Weights(jnp.ones((8, 32)), jnp.ones((32, 8))), jnp.ones((256, 8)), executor=executor)
            assert word in str(refused.value) and "\n" not in str(refused.value)


def test_an_interrupt_of_a_compile_is_no_verdict_on_a_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    params, x = arguments()

    def interrupted(seconds: float, told: str | None = None) -> None:
        if told and told.startswith("compiling"):
            raise KeyboardInterrupt

    found = searched(step, params, x, confirm=2, progress=interrupted)
    assert not any(one.compiled for one in found.found.layouts)
    stopped = SimpleNamespace(error=SimpleNamespace(interrupted=True))
    with monkeypatch.context() as patch:
        patch.setattr(layout_confirmation, "compiled_program", lambda *call: stopped)
        with pytest.raises(KeyboardInterrupt):
            found.confirm(0)
    assert found.confirm(0).state is CompiledState.COMPILED


def test_choices_that_cannot_be_are_one_line() -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"budget": "60s"},
        {"budget": float("nan")},
        {"budget": -1},
        {"executor": "threads"},
        {"keep": P("data")},
        {"most_axes": 0},
        {"most_split": {"batch": 0}},
        {"most_split": {"nothing": 2}},
        {"confirm": -1},
        {"effort": "high"},
    )
    for how in wrong:
        with pytest.raises(UnusableChoice) as refused:
            searched(step, *arguments(), **how)
        [name] = how
        assert name in str(refused.value) and "\n" not in str(refused.value), how
    search = searched(step, *arguments())
    for number in (99, -1):
        with pytest.raises(NoSuchLayout, match=str(number)):
            search.open(number)
    with pytest.raises(UnusableChoice, match="yaml"):
        search.code("yaml")
