"""Shardings, dtypes and warnings at the lines of real programs."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

from jaxstage_ext import inspect
from jaxstage_ext.analysis.margin.line_values import Lane, Mark
from jaxstage_ext.analysis.margin.resharding_wording import ReshardingAdvice
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.sharding_wording import per_device
from jaxstage_ext.analysis.sharding.slices import Sharding
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.recompile import pass_pipeline
from jaxstage_ext.program.questions.collectives import collectives, count
from jaxstage_ext.program.source import margin

P = PartitionSpec


pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")
ONE = ShardingMap((1,), Sharding((1,), np.zeros((1, 1), int)), "f32")
PER_DEVICE = per_device(ONE).partition("] ")[2]
"""What follows the shape of a shard."""


def nothing(seconds: float, text: str | None) -> None:
    """Hears how far a look is."""


def shape(*sizes: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def block(x, w):
    h = jnp.tanh(x @ w)
    return jax.lax.with_sharding_constraint(h, P("data", None))


def model(x, w1, w2):
    h = block(x, w1)
    low = h.astype(jnp.bfloat16)
    y = jax.lax.with_sharding_constraint(low, P(None, "data"))
    wide = y.astype(jnp.float32) * 2
    return jnp.einsum("ij,jk->ik", wide, w2)


SPECS = (P("data", None), P(None, "model"), P("model", None))


@functools.cache
def of_model() -> Inspection:
    return inspect(
        model, shape(64, 32), shape(32, 48), shape(48, 16), target="cpu:8", mesh="data=4,model=2", in_specs=SPECS
    )


@functools.cache
def lane(name: str) -> Lane:
    return margin.LANES[name](of_model().program, nothing)


def at(inspection: Inspection, found: Lane, doc: str, text: str) -> list[Mark]:
    """The marks beside the lines of a document that hold a text."""
    rows = [row for row, line in enumerate(inspection.documents[doc].lines) if text in line]
    assert rows, f"no line of {doc} has {text!r}"
    return [mark for row in rows if (mark := found.marks[doc].get(row)) is not None]


def sharding(doc: str, text: str) -> list[tuple[str, str]]:
    return [(mark.label, mark.kind) for mark in at(of_model(), lane("sharding"), doc, text)]


def test_a_constraint_is_yours_and_stands_at_its_line_in_every_document() -> None:
    yours = ("·,data", "you")
    assert sharding("python", 'y = jax.lax.with_sharding_constraint(low, P(None, "data"))') == [yours]
    assert sharding("jaxpr", "bf16[64,48] = sharding_constraint") == [yours]
    assert sharding("stablehlo", "sdy.sharding_constraint %3 <@mesh, [{}, {") == [yours]


def test_what_the_compiler_chose_is_told_apart() -> None:
    after = ("·,data", "compiler")
    assert sharding("python", "wide = y.astype") == [after]
    assert sharding("jaxpr", "f32[64,48] = mul") == [after]
    assert sharding("stablehlo", "stablehlo.multiply") == [after]


def test_arguments_and_results_stand_where_they_are_named() -> None:
    assert sharding("python", "def model(x, w1, w2)") == [("3 arguments", "you")]
    assert sharding("jaxpr", "{ lambda ;") == [("3 arguments", "you")]
    assert sharding("stablehlo", "func.func public @main(") == [("3 arguments", "you")]
    [result] = at(of_model(), lane("sharding"), "stablehlo", "    return %")
    assert result.kind == "compiler"
    [told] = at(of_model(), lane("sharding"), "jaxpr", "{ lambda ;")
    [weight] = [line for line in told.text.splitlines() if line.startswith("w1 ")]
    assert all(part in weight for part in ("f32[32,48]", "P(None, 'model')", "f32[32,24]", "3.07 kB", "4 "))


def test_hlo_parameters_have_the_shardings_of_their_arguments() -> None:
    specs = {"f32[16,32]": "data,·", "f32[32,24]": "·,model", "f32[24,16]": "model,·"}
    document = of_model().documents["hlo"]
    entry = next(row for row, line in enumerate(document.lines) if line.startswith("ENTRY"))
    found = {row: mark for row, mark in lane("sharding").marks["hlo"].items() if row > entry}
    given = {
        document.lines[row].split(" = ")[1].split("{")[0]: m
        for row, m in found.items()
        if "parameter(" in document.lines[row]
    }
    assert {kind: mark.label for kind, mark in given.items()} == specs
    assert {mark.kind for mark in given.values()} == {"you"}


def test_every_marked_hlo_line_has_the_shape_of_one_devices_part() -> None:
    document = of_model().documents["hlo"]
    marked = lane("sharding").marks["hlo"]
    assert len(marked) > 5
    for row, mark in marked.items():
        dims = document.lines[row].split(" = ")[1].split("{")[0].partition("[")[2].rstrip("]")
        assert f"[{dims}] {PER_DEVICE}" in mark.text, document.lines[row]


def test_a_partial_sum_has_no_sharding_yet() -> None:
    inspection = inspect(
        lambda x, w: jnp.sin(x @ w),
        shape(64, 32),
        shape(32, 48),
        target="cpu:8",
        mesh="data=4,model=2",
        in_specs=(P("data", "model"), P("model", None)),
    )
    document, marks = inspection.documents["hlo"], margin.LANES["sharding"](inspection.program, nothing).marks["hlo"]
    [total] = [row for row, line in enumerate(document.lines) if " all-reduce(" in line]
    assert f"[16,48] {PER_DEVICE}" in marks[total].text
    assert not [row for row in marks if row < total and document.scope[row] == document.scope[total]]


def test_a_hover_gives_spec_mesh_shard_and_bytes() -> None:
    [mark] = at(of_model(), lane("sharding"), "jaxpr", "bf16[64,48] = sharding_constraint")
    head, value, share, *_ = mark.text.split("\n")
    assert head == "P(None, 'data'): chosen by you"
    assert value == "sharding_constraint bf16[64,48] on mesh data=4, model=2"
    assert share.startswith(f"bf16[64,12] {PER_DEVICE}, 1.54 kB, ") and "2 " in share


def layers(x, ws):
    for w in ws:
        x = jnp.tanh(x @ w)
    return x


def test_lines_that_run_several_times_go_in_order() -> None:
    weights = [shape(32, 32), shape(32, 32)]
    specs = (P("data", None), [P(None, "model"), P("model", None)])
    inspection = inspect(layers, shape(64, 32), weights, target="cpu:8", mesh="data=4,model=2", in_specs=specs)
    found = margin.LANES["sharding"](inspection.program, nothing)
    assert [mark.label for mark in at(inspection, found, "jaxpr", " = tanh ")] == ["data,model", "data,·"]
    [line] = at(inspection, found, "python", "x = jnp.tanh(x @ w)")
    assert line.label == "data,· +1"


def test_the_compilers_choice_is_what_jax_says_of_it() -> None:
    """Oracle: JAX's own callback with the sharding that the compiler settled."""
    mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P("a", None)))
    w = jax.device_put(np.ones((4, 6), np.float32), NamedSharding(mesh, P(None, "b")))
    told: list[Any] = []

    def watched(x, w):
        h = jnp.sin(x @ w)
        jax.debug.inspect_array_sharding(h, callback=told.append)
        return h

    jax.jit(watched).lower(x, w).compile()

    def plain(x, w):
        h = jnp.sin(x @ w)
        return h * 2

    inspection = inspect(plain, x, w)
    [mark] = at(inspection, margin.LANES["sharding"](inspection.program, nothing), "python", "h = jnp.sin(x @ w)")
    assert f"f32[{','.join(map(str, told[0].shard_shape((8, 6))))}] {PER_DEVICE}" in mark.text
    assert (mark.label, told[0].spec) == ("a,b", P("a", "b"))


def explicit(x, w):
    y = jnp.sin(x) @ w
    return jax.sharding.reshard(y, P(None, "d"))


def test_on_an_explicit_mesh_jax_has_chosen_by_its_types() -> None:
    mesh = jax.sharding.AbstractMesh((4, 2), ("d", "m"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    specs = (P("d", None), P(None, "m"))
    inspection = inspect(explicit, shape(16, 8), shape(8, 4), target="cpu:8", mesh=mesh, in_specs=specs)
    found = margin.LANES["sharding"](inspection.program, nothing)
    [product] = at(inspection, found, "jaxpr", "f32[16@d,4@m] = dot_general")
    [laid] = at(inspection, found, "jaxpr", "f32[16,4@d] = reshard")
    assert [(one.label, one.kind) for one in (product, laid)] == [("d,m", "JAX"), ("·,d", "you")]


def mapped(x):
    return jax.shard_map(lambda x: jax.lax.psum(jnp.sin(x), "d"), in_specs=P("d"), out_specs=P())(x)


def test_inside_shard_map_each_device_has_its_own() -> None:
    inspection = inspect(mapped, shape(16, 8), target="cpu:8", mesh="d=8", in_specs=P("d"))
    [mark] = at(inspection, margin.LANES["sharding"](inspection.program, nothing), "jaxpr", " = sin ")
    assert (mark.label, mark.kind) == ("per device", "you")


def repeated(x, ws):
    for w in ws:
        x = jnp.sin(x) @ w
    return x


def test_reshardings_of_one_line_are_one_warning_with_all_their_bytes() -> None:
    weights = [shape(32, 32) for _ in range(3)]
    specs = (P("data", None), [P(None, "data")] * 3)
    inspection = inspect(repeated, shape(64, 32), weights, target="cpu:8", mesh="data=8", in_specs=specs)
    gathers = [row for row in inspection.collectives.rows if row.op.kind == "all-gather"]
    found, warned, [places] = margin.warnings(inspection.program, nothing)
    assert len(gathers) == 3 and len(warned) == 1
    assert "ws[…] " in warned[0].text and "dot_general" in warned[0].text
    assert (
        sum(row.total_sent or 0 for row in gathers) == 3 * 7 * 32 * 32 * 4 / 8 and "10.8 kB" in warned[0].text
    )  # 3 x 7 parts of 32 x 32 x 4 / 8 bytes
    assert len(found.marks["hlo"]) == 3 and len(places) == 4


def test_one_device_has_nothing_to_lay_out() -> None:
    inspection = inspect(lambda x: jnp.tanh(x), shape(8))
    found = margin.LANES["sharding"](inspection.program, nothing)
    assert {mark.label for marks in found.marks.values() for mark in marks.values()} <= {"one device"}
    assert not found.notes


def test_without_a_worker_arguments_and_results_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspect(
        model, shape(64, 32), shape(32, 48), shape(48, 16), target="cpu:8", mesh="data=4,model=2", in_specs=SPECS
    )

    def refuse(*args: Any) -> None:
        raise RuntimeError("the compile worker died")

    monkeypatch.setattr(pass_pipeline, "recompile_to_partitioner", refuse)
    found = margin.LANES["sharding"](inspection.program, nothing)
    assert found.notes == ("Of arguments and results alone: the compile worker died",)
    assert set(found.marks["python"].values()) == {found.marks["jaxpr"][0]}


def dtype(doc: str, text: str) -> list[tuple[str, str]]:
    return [(mark.label, mark.kind) for mark in at(of_model(), lane("dtypes"), doc, text)]


def test_dtype_changes_stand_at_the_line_that_makes_them_with_their_bytes() -> None:
    down, up = ("f32→bf16 −6.14 kB", "demotion"), ("bf16→f32 +6.14 kB", "promotion")  # 64 x 48 x 2 bytes
    assert dtype("jaxpr", "bf16[64,48] = convert_element_type") == [down]
    assert dtype("jaxpr", "f32[64,48] = convert_element_type") == [up]
    assert dtype("stablehlo", "-> tensor<64x48xbf16>") == [down]
    assert dtype("stablehlo", "(tensor<64x48xbf16>) -> tensor<64x48xf32>") == [up]
    assert [label.split(" +1")[0] for label, _ in dtype("python", "low = h.astype")] == [down[0]]


def test_the_compilers_own_conversions_are_told_apart() -> None:
    document, marks = of_model().documents["hlo"], lane("dtypes").marks["hlo"]
    assert all(" convert(" in document.lines[row] for row in marks)
    kinds = {mark.kind for mark in marks.values()}
    assert "promotion" in kinds or "promotion compiler" in kinds


def test_a_weak_type_and_a_loop_are_said() -> None:
    def looped(x):
        return jax.lax.fori_loop(0, 3, lambda i, c: c + (x * i).astype(jnp.float32), jnp.zeros(8, jnp.float32))

    inspection = inspect(looped, shape(8, dtype=jnp.bfloat16))
    marks = margin.LANES["dtypes"](inspection.program, nothing).marks["python"].values()
    assert any("bf16 → f32 of [8]: promotion, +48 B in 3 runs" in mark.text for mark in marks)


def relaid(x):
    y = jax.lax.with_sharding_constraint(jnp.tanh(x), P("data", None))
    return jax.lax.with_sharding_constraint(y, P(None, "data"))


def test_a_resharding_that_the_program_asks_for_is_said_to_be() -> None:
    inspection = inspect(relaid, shape(64, 32), target="cpu:8", mesh="data=8", in_specs=P("data", None))
    found, [asked], [[source, optimised]] = margin.warnings(inspection.program, nothing)
    assert asked.kind == "asked"
    names = ("P('data', None)", "sharding_constraint", "P(None, 'data')", "all-to-all over data", "896 B")
    assert all(name in asked.text for name in names)  # 7 of 8 parts of 64 x 32 x 4 / 8 bytes
    assert ReshardingAdvice.ASKED.value in asked.text
    assert 'P(None, "data")' in inspection.documents["python"].lines[source[1]]
    assert "all-to-all" in inspection.documents["hlo"].lines[optimised[1]]
    assert found.marks["python"][source[1]].kind == "asked"


def test_a_resharding_that_nobody_asked_for_says_what_to_do() -> None:
    _, warned, places = margin.warnings(of_model().program, nothing)
    [gathered] = [one for one in warned if "w2 " in one.text]
    names = ("P('model', None)", "dot_general", "P(None, 'data')", "P(None, None)")
    places_in_text = [gathered.text.index(name) for name in names]
    assert places_in_text == sorted(places_in_text)
    assert gathered.kind == "resharding" and ReshardingAdvice.AVOID.value in gathered.text
    source, _ = places[warned.index(gathered)]
    assert "jnp.einsum" in of_model().documents["python"].lines[source[1]]


def mixed(x, y):
    joined = jnp.concatenate([x, y], 0)
    return jax.lax.with_sharding_constraint(joined, P(("c", "a"), "b"))


def test_full_rematerialisation_comes_first_with_what_to_do() -> None:
    inspection = inspect(
        mixed,
        shape(8, 8),
        shape(8, 8),
        target="cpu:8",
        mesh={"a": 2, "b": 2, "c": 2},
        in_specs=(P("a", "b"), P("b", "a")),
    )
    assert not collectives.is_known(inspection.program)
    found, warned, places = margin.warnings(inspection.program, nothing)
    assert collectives.is_known(inspection.program) and count(inspection.program) > 0
    assert [one.kind for one in warned][:2] == ["rematerialisation"] * 2
    assert " x" in warned[0].text and ReshardingAdvice.IN_STEPS.value in warned[0].text
    [row] = [row for kind, row in places[0] if kind == "python"]
    assert "jnp.concatenate" in inspection.documents["python"].lines[row]
    assert found.marks["python"][row].kind == "rematerialisation"


def test_a_program_whose_values_stay_where_they_are_is_not_warned_of() -> None:
    inspection = inspect(
        lambda x, w: jnp.tanh(x @ w), shape(16, 8), shape(8, 4), target="cpu:8", mesh="d=8", in_specs=(P("d"), P())
    )
    assert count(inspection.program) == 0
    found, warned, places = margin.warnings(inspection.program, nothing)
    assert (warned, places) == ((), []) and not any(found.marks.values())
