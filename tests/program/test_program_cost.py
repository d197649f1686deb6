"""`ins.cost` and `ins.roofline()` of real programs."""

from __future__ import annotations

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.analysis.collectives.interconnect import NO_SPEED_BETWEEN_HOSTS
from jaxstage_ext.analysis.cost.ceilings import Ceiling, Outcome
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.program.device.program_devices import NO_SPEED_OF_TARGET
from jaxstage_ext.program.questions.collectives import collectives

pytestmark = pytest.mark.usefixtures("kept_answers")


def loss(w, x):
    with jax.named_scope("layer"):
        y = jnp.tanh(x @ w)
    return jnp.sum(y)


@pytest.fixture(scope="module")
def inspection():
    return inspect(loss, jnp.ones((64, 32)), jnp.ones((8, 64)))


def test_the_dot_is_at_its_line_and_scope(inspection) -> None:
    lines = inspection.cost.by("line")
    assert lines["line"][0].endswith(f"test_program_cost.py:{loss.__code__.co_firstlineno + 2}")
    assert lines["FLOPs"][0] >= 2 * 8 * 64 * 32
    scopes = inspection.cost.by("scope")
    assert [scope for scope in scopes["scope"] if scope.endswith("layer")]


def test_rows_are_those_of_the_document(inspection) -> None:
    table = inspection.cost.table
    assert len(table)
    lines = inspection.documents["hlo"].lines
    for name, row in zip(table["instruction"], table["row"], strict=True):
        assert f"%{name} = " in lines[row]
    groups = inspection.cost.by("line")
    for name, row in zip(groups["instruction"], groups["row"], strict=True):
        assert f"%{name} = " in lines[row]


def test_the_text_has_totals_ledger_and_table(inspection) -> None:
    cost = inspection.cost
    text = str(cost)
    assert cost.headline in text and cost.roofline.verdict in text
    assert cost.roofline.outcome is Outcome.NO_PEAKS and "this kernel's cpu" in cost.roofline.verdict
    assert "jaxpr" in text
    assert "transcendentals" in text
    assert repr(inspection.cost) == text


def test_json_and_pandas(inspection) -> None:
    found = json.loads(inspection.cost.to_json())
    assert found["table"] == "cost"
    pandas = pytest.importorskip("pandas")
    frame = inspection.cost.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["FLOPs (FLOP)"].sum() == inspection.cost.work.total_flops


def test_it_is_counted_once(inspection) -> None:
    assert inspection.cost is inspection.cost
    assert inspection.cost.roofline is inspection.cost.roofline


def test_the_ledger_has_room_for_what_is_measured(inspection) -> None:
    ledger = inspection.cost.ledger
    assert list(ledger.columns) == ["", "jaxpr", "HLO", "XLA", "measured"]
    assert ledger["jaxpr"][0] == ledger["XLA"][0] == ledger["HLO"][0]
    assert math.isnan(ledger["measured"][0])


def test_an_unknown_part_is_in_the_headline_and_leads_its_group() -> None:
    found = inspect(lambda x: jnp.linalg.eigh(x)[0], jnp.eye(8)).cost
    assert found.headline.startswith("at least ")
    calls = found.by("opcode").rows()
    [call] = [row for row in calls if row["opcode"] == "custom-call"]
    assert call["FLOPs"] is None
    assert call["FLOPs unknown"] == 1


def test_nothing_compiled_nothing_counted(inspection) -> None:
    with pytest.raises(ValueError, match="has no optimised HLO to count; inspect it with stage='compile'"):
        inspect(loss, jnp.ones((4, 4)), jnp.ones((4, 4)), stage="lower").cost.table  # noqa: B018
    with pytest.raises(ValueError, match="no optimised HLO"):
        Inspection.from_json(inspection.to_json()).cost  # noqa: B018


@pytest.mark.parametrize(("target", "title"), [("v5e:2x2", "TPU v5e"), ("h100", "NVIDIA H100 SXM")])
def test_a_device_of_the_catalogue_bounds_the_program(target: str, title: str) -> None:
    needs(target)
    large = jax.ShapeDtypeStruct((1 << 20, 64), jnp.float32)  # too large to be copied to the chip before the program
    found = inspect(lambda w, x: x @ w, jnp.ones((64, 32)), large, target=target)
    roof = found.cost.roofline
    assert (roof.bounded_by, roof.shares[Ceiling.MEMORY]) == (Ceiling.MEMORY, pytest.approx(1, abs=0.005))
    assert "100%" in roof.verdict and title in roof.verdict
    figure = found.roofline()
    assert title in figure.layout.title.text
    points = [trace for trace in figure.data if trace.mode == "markers"]
    assert np.all(np.concatenate([trace.y for trace in points]) > 0)


SHARDED = {"v5e:2x2": "model=4", "h100:4": "model=4", "h100:2x4": "model=8", "cpu:4": "model=4"}


@pytest.mark.parametrize("target", SHARDED)
def test_collectives_are_part_of_what_bounds_the_program(target: str) -> None:
    needs(target)
    x, w = (jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in ((8, 8192), (8192, 8192)))
    specs = (P(None, "model"), P("model", None))
    found = inspect(lambda x, w: x @ w, x, w, target=target, mesh=SHARDED[target], in_specs=specs, out_specs=P())
    roof = found.cost.roofline
    assert not collectives.is_known(found.program), "no compile is needed for it"
    if target in ("v5e:2x2", "h100:4"):
        bound = dict(zip(roof.names, roof.bound, strict=True))
        assert "interconnect" in bound.values()
        times = found.collectives.table["time"]
        assert roof.seconds[roof.bound.index("interconnect")] == pytest.approx(times[0])
    else:
        assert roof.bounded_by == "unknown"
        why = {"h100:2x4": NO_SPEED_BETWEEN_HOSTS, "cpu:4": NO_SPEED_OF_TARGET}
        assert why[target] in roof.verdict


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_collectives_that_libtpu_runs_beside_products_compute_nothing_and_hide_in_them() -> None:
    needs("v5e:4x4")

    def gradient(x, w, v):
        return jax.grad(lambda w, v: ((jnp.maximum(x @ w, 0) @ v) ** 2).sum(), argnums=(0, 1))(w, v)

    x, w, v = (jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in ((4096, 4096), (4096, 8192), (8192, 4096)))
    specs = (P("data"), P("data", "model"), P("model", "data"))
    cost = inspect(gradient, x, w, v, target="v5e:4x4", mesh="data=4,model=4", in_specs=specs).cost
    names = list(cost.table["instruction"])
    assert any(name.startswith("async-collective-start") for name in names)
    assert not np.isnan(cost.table["FLOPs"]).any()
    products = 5 * 2 * 4096 * 4096 * 8192 / 16
    assert cost.work.total_flops == pytest.approx(products, rel=0.01)
    hidden = dict(zip(cost.roofline.table["instruction"], cost.roofline.table["hidden"], strict=True))
    assert any(seconds > 0 for name, seconds in hidden.items() if name.startswith("async-collective"))
    bound = dict(zip(cost.roofline.table["instruction"], cost.roofline.table["bound"], strict=True))
    assert {bound[name] for name in names if name.startswith("all-")} == {"interconnect"}


@pytest.mark.parametrize("stage", ["trace", "lower"])
def test_equations_are_counted_without_a_compile(stage: str) -> None:
    found = inspect(loss, jnp.ones((64, 32)), jnp.ones((8, 64)), stage=stage)
    table = found.cost.equations.table
    dot = list(table["primitive"]).index("dot_general")
    assert table["FLOPs"][dot] == 2 * 8 * 64 * 32
    assert table["line"][dot].endswith(f"test_program_cost.py:{loss.__code__.co_firstlineno + 2}")
    assert table["scope"][dot] == "layer"
    assert "dot_general" in found.documents["jaxpr"].lines[table["row"][dot]]
    assert str(found.cost).startswith("33 kFLOP in the jaxpr")
    assert json.loads(found.cost.equations.to_json())["table"] == "equations"


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_what_a_gpu_runs_asynchronously_is_at_the_line_of_its_start() -> None:
    """The text leaves such instructions out; a scan's slices for the backward pass are often among them."""
    needs("h100")

    def stacked(w, x):
        return (jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, w)[0] ** 2).sum()

    shapes = (jax.ShapeDtypeStruct((8, 512, 512), jnp.float32), jax.ShapeDtypeStruct((1024, 512), jnp.float32))
    table = inspect(jax.grad(stacked), *shapes, target="h100").cost.table
    if "async-start" not in table["opcode"]:
        pytest.skip("this XLA runs nothing of it asynchronously")
    assert all(row["line"] and row["row"] >= 0 for row in table.rows())
