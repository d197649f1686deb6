"""What a layout makes of small programs: collectives counted by hand, XLA's own propagation, and deaths of workers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.core.jax_private.lowered_modules import module_bytecode
from jaxstage_ext.core.layout.partitioner import Partitioner
from jaxstage_ext.ir.partitioning.module_layout import AxisSpec, ModuleLayout
from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedModule
from jaxstage_ext.report.unavailable import Unavailable

EIGHT = {"x": 8}
GRID = {"a": 4, "b": 2}
CONV = functools.partial(
    jax.lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
)


def shape(*sizes: int, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(sizes, dtype)


@functools.cache
def opened(function: Callable[..., Any], *sizes: tuple[int, ...]) -> Partitioner:
    return Partitioner(module_bytecode(jax.jit(function).lower(*(shape(*each) for each in sizes))))


def spec(text: str) -> AxisSpec:
    """ "x - ab": the first dimension over x, the second whole, the third over a and b."""
    return tuple(() if word == "-" else tuple(word) for word in text.split())


def partitioned(partitioner: Partitioner, mesh: Mapping[str, int], given: str, made: str = "") -> PartitionedModule:
    arguments = tuple(map(spec, given.split(",")))
    results = tuple(map(spec, made.split(","))) if made else None
    (answer,) = partitioner.partition([ModuleLayout(mesh, arguments, results)])
    assert isinstance(answer, PartitionedModule)
    return answer


def sent(answer: PartitionedModule) -> list[tuple[str, str, int]]:
    return sorted((each.kind.value, "".join(each.axes), each.bytes * (each.trips or 0)) for each in answer.collectives)


def product(x: Any, w: Any) -> Any:
    return x @ w


def mlp(x: Any, up: Any, down: Any) -> Any:
    return jax.nn.relu(x @ up) @ down


def gradient(w: Any, x: Any, y: Any) -> Any:
    return jax.grad(lambda w: ((x @ w - y) ** 2).sum())(w)


def layers(x: Any, up: Any, down: Any) -> Any:
    return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w[0]) @ w[1], None), x, (up, down))[0]


@jax.jit
def _rows_summed(x: Any) -> Any:
    return jnp.sum(x, 1)


def called_twice(x: Any, y: Any) -> Any:
    return _rows_summed(x) + _rows_summed(y)


def twice(x: Any) -> Any:
    return x * 2


def turned(x: Any) -> Any:
    return x[::-1]


SQUARE = ((32, 64), (64, 16))
MLP = ((32, 64), (64, 128), (128, 64))
F32 = 4
MOVED = [("all-gather", "a:(2)2", 32 * 16 * F32 // 2), ("collective-permute", "ba:(2)2", 32 * 16 * F32 // 4)]
"""From four parts to two: a quarter goes where it belongs, then each device gathers its half."""


@pytest.mark.parametrize(
    ("function", "sizes", "mesh", "given", "made", "expected"),
    [
        (product, SQUARE, EIGHT, "x -,- -", "", []),
        (product, SQUARE, EIGHT, "- -,- x", "", []),
        (product, SQUARE, EIGHT, "- x,x -", "- -", [("all-reduce", "x", 32 * 16 * F32)]),
        (product, SQUARE, EIGHT, "- x,x -", "x -", [("reduce-scatter", "x", 32 * 16 * F32)]),
        (product, SQUARE, EIGHT, "- -,- x", "- -", [("all-gather", "x", 32 * 16 * F32)]),
        (product, SQUARE, GRID, "a b,b -", "a -", [("all-reduce", "b", 32 * 16 * F32 // 4)]),
        (mlp, MLP, GRID, "a -,- b,b -", "a -", [("all-reduce", "b", 32 * 64 * F32 // 4)]),
        (gradient, ((64, 16), (32, 64), (32, 16)), EIGHT, "- -,x -,x -", "- -", [("all-reduce", "x", 64 * 16 * F32)]),
        (layers, ((8, 16), (6, 16, 32), (6, 32, 16)), EIGHT, "- -,- - x,- x -", "- -",
         [("all-reduce", "x", 6 * 8 * 16 * F32)]),
        (called_twice, ((8, 16), (8, 16)), EIGHT, "- x,- x", "-", [("all-reduce", "x", 8 * F32)] * 2),
        (twice, ((32, 16),), EIGHT, "x -", "- x", [("all-to-all", "x", 32 * 16 * F32 // 8)]),
        (twice, ((32, 16),), GRID, "a -", "b -", MOVED),
        (turned, ((32, 16),), EIGHT, "x -", "x -", [("collective-permute", "x", 32 * 16 * F32 // 8)]),
        (CONV, ((2, 16, 16, 3), (3, 3, 3, 8)), EIGHT, "- x - -,- - - -", "",
         [("collective-permute", "x", 2 * 16 * 3 * F32)] * 2),
    ],
)  # fmt: skip
def test_counted_by_hand(
    function: Callable[..., Any], sizes: Any, mesh: Any, given: str, made: str, expected: Any
) -> None:
    answer = partitioned(opened(function, *sizes), mesh, given, made)
    assert sent(answer) == expected


def test_local_work() -> None:
    answer = partitioned(opened(mlp, *MLP), GRID, "a -,- b,b -", "a -")
    whole = 2 * 32 * 64 * 128
    assert sorted(flops for flops in answer.flops.tolist() if flops) == [whole / 8, whole / 8]
    assert answer.argument_bytes == (32 * 64 // 4 + 2 * 64 * 128 // 2) * F32
    assert answer.result_bytes == 32 * 64 * F32 // 4
    x, up, hidden, down, y = (32 * 64 // 4, 64 * 128 // 2, 32 * 128 // 8, 128 * 64 // 2, 32 * 64 // 4)
    relu, products = 2 * hidden, x + up + hidden + hidden + down + y
    assert answer.moved.sum() == pytest.approx((relu + products) * F32, abs=64)


def test_elementwise_neighbours_are_one_kernel() -> None:
    answer = partitioned(opened(lambda x: jnp.tanh(x * 2 + 1) / 3, (64, 64)), EIGHT, "x -")
    assert answer.moved.sum() == pytest.approx(2 * 64 * 64 * F32 / 8, abs=64)


def test_trips_of_a_loop_that_depends_on_data_are_unknown() -> None:
    def until(x: Any, up: Any) -> Any:
        return jax.lax.while_loop(lambda x: x.sum() < 1, lambda x: x @ up, x)

    answer = partitioned(opened(until, (8, 16), (16, 16)), EIGHT, "- -,x -")
    assert {each.trips for each in answer.collectives if each.bytes > F32} == {None}


@pytest.mark.parametrize(
    ("mesh", "given", "said"),
    [
        (EIGHT, "- x,- -", "size 12, which 8 does not divide"),
        (EIGHT, "y -,- -", "over y, which the mesh does not have"),
        (EIGHT, "x x,- -", "twice over one axis"),
        (EIGHT, "x,- -", "has 2 dimensions and its spec 1"),
        (EIGHT, "x -", "the layout has 1 arguments and the program 2"),
    ],
)
def test_what_jax_refuses_is_refused_before(mesh: Any, given: str, said: str) -> None:
    layout = ModuleLayout(mesh, tuple(map(spec, given.split(","))))
    (answer,) = opened(product, (32, 12), (12, 16)).partition([layout])
    assert isinstance(answer, Unavailable)
    assert said in answer.reason


def test_constraints_hold_and_their_axes_are_needed() -> None:
    mesh = jax.sharding.AbstractMesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x", None))
    module = module_bytecode(jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, rows) * 3).lower(shape(32, 16)))
    kept = Partitioner(module)
    assert kept.module.constraints == (("x", 8),)
    assert sent(partitioned(kept, EIGHT, "- x")) == [("all-to-all", "x", 32 * 16 * F32 // 8)]
    (refused,) = kept.partition([ModuleLayout(GRID, (spec("a -"),))])
    assert isinstance(refused, Unavailable)
    assert not partitioned(Partitioner(module, with_constraints=False), EIGHT, "- x").collectives


def test_several_workers_answer_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxstage_ext.core.layout import partitioner as module
    from jaxstage_ext.worker import pool

    monkeypatch.setattr(module, "BATCH", 1)
    made = Partitioner(module_bytecode(jax.jit(product).lower(*(shape(*each) for each in SQUARE))), workers=2)
    layouts = [ModuleLayout(EIGHT, (spec(each), spec("- -"))) for each in ("x -", "- -", "- x", "x -", "- -")]
    told: list[str | None] = []
    answers = made.partition(layouts, lambda seconds, step: told.append(step))
    assert [each.layout for each in answers if isinstance(each, PartitionedModule)] == layouts
    assert told[-1] == "5 of 5"
    assert {name for name in pool.running() if "partition" in name} == {"cpu/partition 0", "cpu/partition 1"}
    pool.restart("cpu", "partition 1")


def test_a_worker_that_dies_of_a_layout_loses_that_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxstage_ext.worker import pool
    from jaxstage_ext.worker.request_errors import WorkerDied

    made, ask, deadly = opened(product, *SQUARE), pool.ask, [["x"], []]

    def dying(platform: str, request: dict[str, Any], *rest: Any, **how: Any) -> Any:
        if any([list(each) for each in layout["arguments"][0]] == deadly for layout in request.get("layouts", ())):
            pool.restart(platform, how["lane"])
            raise WorkerDied("a CHECK failed", "exit")
        return ask(platform, request, *rest, **how)

    monkeypatch.setattr(pool, "ask", dying)
    before = made.lost
    layouts = [ModuleLayout(EIGHT, (spec(each), spec("- -"))) for each in ("- -", "x -", "- x")]
    answers = made.partition(layouts)
    assert [isinstance(each, PartitionedModule) for each in answers] == [True, False, True]
    assert made.lost == before + 1


def printing(x: Any) -> Any:
    jax.debug.print("{}", x)
    return x * 2


def test_a_callback_takes_its_operands_whole() -> None:
    made = opened(printing, (32, 16))
    assert [made.module.ops[at].target for at in made.module.unruled] == ["xla_ffi_python_cpu_callback"]
    assert sent(partitioned(made, EIGHT, "x -")) == [("all-gather", "x", 32 * 16 * F32)]


def test_calls_that_give_a_tuple_are_opened() -> None:
    made = opened(lambda x: jnp.linalg.cholesky(x), (4, 16, 16))
    assert not partitioned(made, {"x": 4}, "x - -").collectives


def test_lines_and_operations() -> None:
    answer = partitioned(opened(product, *SQUARE), EIGHT, "- x,x -", "- -")
    (each,) = answer.collectives
    assert re.fullmatch(r"test_partitioner\.py:\d+", each.line)
    assert opened(product, *SQUARE).module.ops[each.op].is_matmul
    assert np.count_nonzero(answer.flops) == 1
