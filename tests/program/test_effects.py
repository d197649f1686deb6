"""What a program does beside computing its results; what JAX does not combine it with is tried, not read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import io_callback
from jax.experimental.compute_on import compute_on
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.report.table import Table

X = jnp.ones((8, 4))
SHAPE = jax.ShapeDtypeStruct((8, 4), jnp.float32)
OLD = jax.__version_info__ < (0, 11)


def sine(x: Any) -> Any:
    return np.sin(x)


def pure(x: Any) -> Any:
    return jax.pure_callback(sine, SHAPE, x, vmap_method="sequential").sum()


def impure(x: Any) -> Any:
    return io_callback(sine, SHAPE, x).sum()


def in_order(x: Any) -> Any:
    return io_callback(sine, SHAPE, x, ordered=True).sum()


def printed(x: Any) -> Any:
    jax.debug.print("x is {}", x)
    return x.sum()


def printed_in_order(x: Any) -> Any:
    jax.debug.print("x is {}", x, ordered=True)
    return x.sum()


def told(x: Any) -> Any:
    jax.debug.callback(sine, x)
    return x.sum()


def told_in_order(x: Any) -> Any:
    jax.debug.callback(sine, x, ordered=True)
    return x.sum()


CALLS = [pure, impure, in_order, printed, printed_in_order, told, told_in_order]


def effects_of(fn: Callable[..., Any], *args: Any) -> Table:
    return inspect(fn, *args, stage="lower").effects


@pytest.mark.parametrize(
    ("fn", "operation", "effect", "what"),
    [
        (pure, "pure_callback", "", "calls sine"),
        (impure, "io_callback", "IO", "calls sine"),
        (in_order, "io_callback", "OrderedIO", "calls sine"),
        (printed, "debug_print", "Debug", "prints 'x is {}'"),
        (printed_in_order, "debug_print", "OrderedDebug", "prints 'x is {}'"),
        (told, "debug_callback", "Debug", "calls sine"),
    ],
)
def test_a_callback_is_named_with_its_function_and_line(
    fn: Callable[..., Any], operation: str, effect: str, what: str
) -> None:
    (row,) = effects_of(fn, X).rows()
    assert (row["operation"], row["effect"], row["what"], row["runs"]) == (operation, effect, what, 1)
    assert row["line"].endswith(f"test_effects.py:{fn.__code__.co_firstlineno + 1}")
    assert operation in inspect(fn, X, stage="lower").documents["jaxpr"].lines[row["row"]]


def refuses(run: Callable[[], Any]) -> bool:
    """Whether JAX refuses something; that it then runs is not asked."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    except (NotImplementedError, ValueError, RuntimeError):
        return True
    return False


def test_a_callback_with_a_derivative_of_its_own_can_be_differentiated() -> None:
    @jax.custom_jvp
    def own(x: Any) -> Any:
        return pure(x)

    own.defjvp(lambda primals, tangents: (own(*primals), tangents[0].sum()))
    (row,) = effects_of(own, X).rows()
    assert "grad" not in row["not with"]
    assert not refuses(lambda: jax.jit(jax.grad(own)).trace(X))


def looped(fn: Callable[..., Any]) -> Any:
    return jax.jit(lambda x: jax.lax.while_loop(lambda c: c < 3, lambda c: c + fn(x), 0.0)).trace(X)


def on_devices(fn: Callable[..., Any]) -> Any:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]), ("d",))
    return jax.jit(fn).lower(jax.device_put(X, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))))


TRIED: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "several devices": on_devices,
    "loops and cond": looped,
    "grad": lambda fn: jax.jit(jax.grad(fn)).trace(X),
    "vmap": lambda fn: jax.jit(jax.vmap(fn)).trace(jnp.ones((3, 8, 4))),
    "absent TPUs and GPUs": lambda fn: jax.jit(fn).trace(X).lower(lowering_platforms=("tpu",)),
    "jax.export": lambda fn: jax.export.export(jax.jit(fn))(X),
}


@pytest.mark.parametrize("fn", CALLS)
def test_what_it_does_not_work_with_is_what_jax_refuses(fn: Callable[..., Any]) -> None:
    (row,) = effects_of(fn, X).rows()
    said = set(row["not with"].split(", "))
    assert said - {"the persistent cache"} == {place for place, run in TRIED.items() if refuses(lambda: run(fn))}  # noqa: B023


def many(x: Any) -> Any:
    def body(carry: Any, _: Any) -> Any:
        return io_callback(sine, SHAPE, carry), None

    x, _ = jax.lax.scan(body, x, None, length=5)
    x = jax.lax.while_loop(lambda c: c.sum() < 3, lambda c: io_callback(sine, SHAPE, c), x)
    return jax.lax.cond(x.sum() > 0, lambda c: io_callback(sine, SHAPE, c), lambda c: c, x)


def test_runs_count_the_turns_of_a_scan_and_are_unknown_where_the_values_decide() -> None:
    table = effects_of(many, X)
    assert list(table["runs"]) == [5, None, None]
    assert [table.reasons[row, "runs"] for row in (1, 2)] == ["in a while loop", "in a branch of cond"]


def test_the_notes_count_the_calls_of_python() -> None:
    assert effects_of(many, X).notes == ("3 callbacks: Python is called at least 5 times in one run.",)
    endless = effects_of(lambda x: jax.lax.while_loop(jnp.any, lambda c: io_callback(sine, SHAPE, c), x), X)
    assert endless.notes == ("1 callback: how often Python is called in one run depends on the values.",)
    assert effects_of(printed, X).notes == ("1 callback: Python is called 1 time in one run.",)
    assert effects_of(pure, X).notes[-1].startswith("JAX may drop or repeat")


def test_a_function_called_twice_runs_its_callback_twice() -> None:
    inner = jax.jit(lambda x: io_callback(sine, SHAPE, x))
    table = effects_of(lambda x: inner(inner(x)), X)
    assert list(table["runs"]) == [2]


def on_host(x: Any) -> Any:
    x = jax.device_put(x, jax.memory.Space.Host)
    if OLD:
        with compute_on("device_host"):
            x = x * 2
    else:
        x = compute_on(lambda o: o * 2, compute_type="device_host", out_memory_spaces=jax.memory.Space.Host)(x)
    return jax.device_put(x, jax.memory.Space.Device)


def test_moves_to_the_host_and_work_on_it_are_told() -> None:
    table = effects_of(on_host, X)
    assert list(table["what"]) == ["to the host's memory", "runs on the host", "from the host's memory"]
    first = on_host.__code__.co_firstlineno
    lines = [int(line.rpartition(":")[2]) - first for line in table["line"]]
    assert lines == [1, 4 if OLD else 6, 7]


def test_reads_and_writes_of_references_are_no_rows_but_the_array_is() -> None:
    def written(x: Any) -> Any:
        ref = jax.new_ref(x)
        ref[...] += 1
        return ref[...]

    assert list(effects_of(written, X)["operation"]) == ["new_ref"]


def test_a_plain_program_has_none_and_no_tab() -> None:
    inspection: Inspection = inspect(lambda x: jnp.sin(x) + x.at[0].set(1), X)
    assert len(inspection.effects) == 0
    assert "effects" not in inspection.summary()["views"]
    assert "effects" in inspect(printed, X).summary()["views"]


def test_a_call_that_will_be_refused_is_told_so_before_it_is_lowered() -> None:
    """The oracle is JAX, which refuses each of them, and runs the last."""
    mesh = jax.make_mesh((2,), ("d",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Auto,))
    placed = jax.device_put(X, jax.NamedSharding(mesh, jax.P("d")))
    line = f"test_effects.py:{printed_in_order.__code__.co_firstlineno + 1}"
    several = inspect(printed_in_order, placed, stage="trace").effects.notes[0]
    assert several.startswith("JAX will not lower this call: the arguments are on 2 devices") and line in several
    with pytest.raises(ValueError, match="more than 1 device"):
        jax.jit(printed_in_order).lower(placed)
    needs("v5e:2x2")
    absent = inspect(printed, X, stage="trace", target="v5e:2x2").effects.notes[0]
    assert absent.startswith("JAX will not lower this call: v5e:2x2 is not in this machine")
    for fn, x, target in ((printed, placed, "local"), (printed_in_order, X, "cpu:2"), (printed_in_order, X, "local")):
        assert "will not lower" not in str(inspect(fn, x, stage="lower", target=target).effects)


def test_a_transfer_of_which_jax_dropped_the_line_has_the_inferred_one() -> None:
    def loss(w: Any, x: Any) -> Any:
        for _ in range(2):
            x = checkpoint_name(jnp.sin(x @ w), "a")
        return x.sum()

    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["a"], offload_src="device", offload_dst="pinned_host"
    )
    table = inspect(jax.grad(jax.checkpoint(loss, policy=policy)), jnp.ones((8, 8)), jnp.ones((8, 8))).effects
    line = f"test_effects.py:{loss.__code__.co_firstlineno + 2}"
    assert [text.endswith(line) for text in table["line"]] == [True, True]
    assert table.remarks == {(0, "line"): "inferred", (1, "line"): "inferred"}


@pytest.mark.parametrize("checked", [True, False])
def test_the_axis_of_a_collective_is_no_effect(checked: bool) -> None:
    """It tells JAX that the axis is bound: the program is an all-reduce and nothing else."""
    mesh = jax.make_mesh((2,), ("i",), axis_types=(AxisType.Auto,))
    summed = jax.shard_map(
        lambda x: jax.lax.psum(x, "i"), mesh=mesh, in_specs=P("i"), out_specs=P(), check_vma=checked
    )  # fmt: skip
    effects = inspect(summed, X, stage="lower").effects
    assert not len(effects)
    assert "No callbacks, no effects" in str(effects)
