"""The collectives of real compiles, on three kinds of target: counted by hand, with their lines and shardings."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.analysis.collectives import collective_wording
from jaxstage_ext.analysis.collectives.collective_causes import Use
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.program.device.program_devices import NO_SPEED_OF_TARGET
from jaxstage_ext.program.questions.propagated_module import propagation_dump
from jaxstage_ext.report.text.public_paths import public_path
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.views.charts import collectives_chart
from jaxstage_ext.worker import pool

MESHES = {"cpu:8": {"data": 2, "model": 4}, "v5e:4x4": {"data": 4, "model": 4}, "h100:8": {"data": 2, "model": 4}}


pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


def shape(*sizes: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def matmul(x, w):
    return x @ w


def gathered(w):
    return jnp.tanh(w)


def relaid(x):
    return jax.lax.with_sharding_constraint(jnp.tanh(x), P(None, "model"))


def ring(x):
    def rotate(x):
        def step(carry, _):
            return jnp.sin(jax.lax.ppermute(carry, "model", [(i, (i + 1) % 4) for i in range(4)])), None

        return jax.lax.scan(step, x, None, length=10)[0]

    return jax.shard_map(rotate, in_specs=P(None, "model"), out_specs=P(None, "model"))(x)


def summed(x):
    return jax.shard_map(
        lambda x: jax.lax.psum(jnp.sin(x), ("data", "model")), in_specs=P("data", "model"), out_specs=P()
    )(x)


class Case(NamedTuple):
    """A program with one collective. `payload` is its hand-counted bytes on one device, from the mesh's sizes."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    specs: tuple[Any, ...]
    result: Any
    kind: str
    axes: str
    payload: Callable[[int, int], int]
    cause: str
    before: str | None = None
    after: str | None = None
    runs: int = 1
    only: str = ""


CASES = {
    "partial sums": Case(
        matmul,
        (shape(256, 1024), shape(1024, 512)),
        (P(None, "model"), P("model", None)),
        P(),
        "all-reduce",
        "model",
        lambda data, model: 256 * 512 * 4,
        "partial sums of dot_general",
        "P(None, 'model') × P('model', None)",
        "P(None, None)",
    ),
    "scattered partial sums": Case(
        matmul,
        (shape(256, 1024), shape(1024, 512)),
        (P(None, "model"), P("model", None)),
        P("model", None),
        "reduce-scatter",
        "model",
        lambda data, model: 256 * 512 * 4,
        "partial sums of dot_general",
        "P(None, 'model') × P('model', None)",
        "P('model', None)",
        only="h100:8",
    ),
    "gathered": Case(
        gathered,
        (shape(1024, 512),),
        (P("data", None),),
        P(),
        "all-gather",
        "data",
        lambda data, model: 1024 * 512 * 4,
        "resharding of tanh for the result",
        "P('data', None)",
        "P(None, None)",
    ),
    "laid anew": Case(
        relaid,
        (shape(1024, 512),),
        (P("model", None),),
        None,
        "all-to-all",
        "model",
        lambda data, model: 1024 * 512 * 4 // model,
        "resharding of x for tanh",
        "P('model', None)",
        "P(None, 'model')",
    ),
    "a ring in a loop": Case(
        ring,
        (shape(256, 512),),
        (P(None, "model"),),
        None,
        "collective-permute",
        "model",
        lambda data, model: 256 * 512 * 4 // model,
        "written as ppermute",
        runs=10,
    ),
    "written over two axes": Case(
        summed,
        (shape(256, 512),),
        (P("data", "model"),),
        None,
        "all-reduce",
        "data, model",
        lambda data, model: 256 * 512 * 4 // data // model,
        "written as psum",
    ),
}


@functools.cache
def compiled(target: str, name: str) -> Inspection:
    needs(target)
    case = CASES[name]
    mesh = MESHES[target]
    return inspect(case.function, *case.arguments, target=target, mesh=mesh, in_specs=case.specs, out_specs=case.result)


def only(target: str, name: str) -> tuple[Collectives, CollectiveRow]:
    found = compiled(target, name).collectives
    assert len(found.rows) == 1, str(found)
    return found, found.rows[0]


every_case = pytest.mark.parametrize(
    ("target", "name"), [(t, n) for t in MESHES for n, case in CASES.items() if case.only in ("", t)]
)


@every_case
def test_a_collective_is_as_counted_by_hand(target: str, name: str) -> None:
    case, mesh = CASES[name], MESHES[target]
    found, row = only(target, name)
    sizes = [mesh[axis] for axis in case.axes.split(", ")]
    devices = sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
    table = found.table
    assert table["collective"] == [case.kind]
    assert table["axes"] == [case.axes]
    assert row.payload == case.payload(mesh["data"], mesh["model"])
    share = {"all-reduce": 2 * (devices - 1) / devices, "collective-permute": 1.0}.get(
        case.kind, (devices - 1) / devices
    )
    if target.startswith("h100"):  # its switches reduce and copy
        share = {"all-reduce": 1.0, "all-gather": 1 / devices}.get(case.kind, share)
    assert row.total_sent == pytest.approx(row.payload * share * case.runs)
    assert row.runs == case.runs


@every_case
def test_it_says_what_caused_it_between_which_shardings_at_which_line(target: str, name: str) -> None:
    case = CASES[name]
    found, _ = only(target, name)
    [row] = found.table.rows()
    assert row["cause"].startswith(case.cause)
    if case.before is not None:
        assert (row["from"], row["to"]) == (case.before, case.after)
    code = case.function.__code__
    file, _, line = row["line"].rpartition(":")
    assert file == public_path(code.co_filename)
    assert code.co_firstlineno < int(line) < code.co_firstlineno + 12


@every_case
def test_its_row_is_that_of_the_hlo_document(target: str, name: str) -> None:
    found, row = only(target, name)
    text = compiled(target, name).documents["hlo"].lines[found.table["row"][0]]
    assert any(f"%{found.name(instruction)} = " in text for instruction in (row.op.row, row.op.start))


@functools.cache
def combined(target: str) -> Inspection:
    """The gradient of data-parallel weights: three sums over "data", which the compiler joins."""
    needs(target)

    def loss(weights, x):
        h = jax.nn.relu(x @ weights[0])
        return ((h @ weights[1]) ** 2).sum()

    def step(weights, x):
        return jax.value_and_grad(loss)(weights, x)

    weights = (shape(256, 512), shape(512, 256))
    return inspect(step, weights, shape(64, 256), target=target, mesh=MESHES[target], in_specs=(P(), P("data")))


@pytest.mark.parametrize("target", MESHES)
def test_collectives_that_the_compiler_joined_name_all_their_lines(target: str) -> None:
    found = combined(target).collectives
    total = (256 * 512 + 512 * 256 + 1) * 4
    assert sum(row.payload for row in found.rows) == total
    largest = found.rows[0]
    assert largest.payload > total / 2
    texts = {collective_wording.cause(cause) for row in found.rows for cause in row.causes}
    assert {"partial sums of dot_general", "partial sums of dot"} & texts
    if len(largest.causes) > 1:
        assert len(found.table["line"][0].split(", ")) > 1


def test_of_two_products_on_one_line_the_one_that_leaves_partial_sums_is_named() -> None:
    [row] = inspect(
        lambda x, w, v: (x @ w) @ v,
        shape(256, 512),
        shape(512, 512),
        shape(512, 128),
        target="cpu:8",
        mesh={"data": 2, "model": 4},
        in_specs=(P("data", None), P(None, "model"), P("model", None)),
    ).collectives.rows
    [cause] = row.causes
    assert cause.before == ("P('data', 'model')", "P('model', None)")
    assert cause.after == (Use("P('data', None)"),)


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_a_time_is_the_bytes_by_the_links_along_the_group() -> None:
    """v5e: four links of 50 GB/s a chip. A mesh axis of 4 is a line, since only 16 chips make a ring.

    All that an all-reduce sums has to leave the chip at the line's end by its one link, or the corner by its two.
    """
    _, row = only("v5e:4x4", "partial sums")
    assert row.seconds == pytest.approx(row.payload / 50e9)
    _, row = only("v5e:4x4", "written over two axes")
    assert row.seconds == pytest.approx(2 * 15 / 16 * row.payload / (2 * 2 * 3 / 4 * 50e9))


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_a_time_on_gpus_is_by_nvlink() -> None:
    """H100's switches sum: each GPU sends its part once."""
    _, row = only("h100:8", "partial sums")
    assert row.sent == row.payload
    assert row.seconds == pytest.approx(row.payload / 450e9)


def test_a_time_that_cannot_be_known_says_why() -> None:
    found, _ = only("cpu:8", "partial sums")
    assert json.loads(found.to_json())["columns"]["time"]["values"] == [None]
    assert found.table.reasons[0, "time"] == NO_SPEED_OF_TARGET
    (hover,) = collectives_chart.figure(found).data[0].hovertext
    assert f"{NO_SPEED_OF_TARGET};" in hover
    assert "at least unknown" not in hover


@functools.cache
def layers() -> Inspection:
    """A scan over layers whose weights are sharded over "data": TPUs gather the next while they compute."""
    needs("v5e:4x4")

    def loss(weights, x):
        def layer(x, w):
            return x + jax.nn.gelu(x @ w["in"]) @ w["out"], None

        return (jax.lax.scan(layer, x, weights)[0].astype(jnp.float32) ** 2).mean()

    weights = {"in": shape(4, 1024, 4096, dtype=jnp.bfloat16), "out": shape(4, 4096, 1024, dtype=jnp.bfloat16)}
    specs = {"in": P(None, "data", "model"), "out": P(None, "model", "data")}
    x = shape(64, 64, 1024, dtype=jnp.bfloat16)
    return inspect(
        jax.grad(loss),
        weights,
        x,
        target="v5e:4x4",
        mesh=MESHES["v5e:4x4"],
        in_specs=(specs, P("data")),
        out_specs=specs,
    )


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_a_collective_in_pieces_counts_once_and_the_work_beside_it_is_told() -> None:
    found = layers().collectives
    text = layers().documents["hlo"].text
    pieced = [row for row in found.rows if row.op.parts]
    assert pieced
    assert text.count("async_collective_fusion_config") > len(pieced)
    for row in pieced:
        assert row.runs == 4
        assert (row.hidden or 0) > 0
        assert set(row.op.parts) <= set(row.meanwhile or ())
        assert row.payload == 1024 * 1024 * 2
    assert {row.overlap for row in found.rows} >= {"partly overlapped", "exposed"}


def test_exposed_time_is_the_same_in_the_table_the_roofline_and_the_answers() -> None:
    """The table by collective, the roofline by instruction; the answers quote both."""
    found, roof = layers().collectives, layers().cost.roofline
    exposed = sum(row.exposed or 0 for row in found.rows)
    left = (roof.seconds - roof.hidden)[[ceiling == "interconnect" for ceiling in roof.bound]].sum()
    assert exposed == pytest.approx(left)
    assert exposed == pytest.approx(sum(found.table["exposed"]))
    assert f"{scaled(exposed, 's')} of it exposed" in found.headline


def test_a_sum_of_which_each_device_keeps_its_slice_is_a_scattered_one() -> None:
    """Per layer, by hand: the gradients of two weights are scattered over "data", both passes sum over "model"."""
    kinds = Counter(row.op.kind for row in layers().collectives.rows)
    assert kinds == {"all-gather": 4, "all-reduce": 2, "reduce-scatter": 2}


def test_a_loop_multiplies() -> None:
    inside = [row for row in layers().collectives.rows if row.runs == 4]
    assert len(inside) > 4


def test_a_thousand_devices() -> None:
    needs("v5e:4x4")
    found = inspect(
        matmul,
        shape(256, 2048),
        shape(2048, 1024),
        target="v5p:8x8x16",
        mesh={"x": 8, "y": 128},
        in_specs=(P("x", "y"), P("y", None)),
    ).collectives
    [row] = found.rows
    assert (row.groups.size, [str(axis) for axis in row.groups.axes or ()]) == (128, ["y"])
    assert row.payload == 256 // 8 * 1024 * 4
    assert len(row.groups.members) == 8


def test_no_collectives_ask_no_compiler_and_say_so() -> None:
    inspection = inspect(jnp.tanh, shape(8), target="cpu:8")
    assert str(inspection.collectives) == "One device; no collectives."
    assert len(inspection.collectives) == 0
    assert not propagation_dump.is_known(inspection.program)


def test_a_program_that_was_not_compiled_has_none() -> None:
    with pytest.raises(ValueError, match="stage='compile'"):
        _ = inspect(jnp.tanh, shape(8), stage="lower").collectives


def test_where_the_compiler_cannot_be_asked_again_the_rest_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspect(
        matmul,
        shape(256, 1024),
        shape(1024, 512),
        target="cpu:8",
        mesh=MESHES["cpu:8"],
        in_specs=CASES["partial sums"].specs,
    )

    def dies(*args: Any, **kwargs: Any) -> Any:
        raise pool.WorkerDied("it is gone", "signal")

    monkeypatch.setattr(pool, "ask", dies)
    found = inspection.collectives
    assert [row.payload for row in found.rows] == [256 * 512 * 4]
    assert found.table["cause"] == [None]
    assert "it is gone" in found.table.reasons[0, "cause"]
