"""The request of the dimensions tab, of a program with a constraint of its own and of one that has no dimensions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P
from panel_requests import ask

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.analysis.sharding.naming.dimension_names import UnknownDimension
from jaxstage_ext.panel.params import BadRequest, ErrorKind
from jaxstage_ext.panel.wire_form import NOTHING
from jaxstage_ext.program.questions.named_dimensions import give_names, known_dimensions
from jaxstage_ext.report.unavailable import Unavailable
from tests.helpers.wire_columns import columns

MESH = {"data": 2, "model": 2}


def shape(*sizes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def layer(w: Any, x: Any) -> Any:
    return jax.lax.with_sharding_constraint(jnp.tanh(x @ w), P("data", "model")).sum(1)


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    specs = (P(None, "model"), P("data"))
    return inspect(layer, shape(12, 8), shape(6, 12), target="cpu:4", mesh=MESH, in_specs=specs, stage="lower")


def test_names_come_before_costs_and_the_shardings_name_axes_once_these_are_known(inspection: Inspection) -> None:
    program = inspection.program
    quick, buffers = ask(program, "dimensions", quick=True)
    assert {one["name"]: one["size"] for one in quick["dimensions"]} == {"w_axis0": 12, "w_axis1": 8, "batch": 6}
    assert {one["sent"] for one in quick["dimensions"]} == {None} and known_dimensions(program) is None
    axes, jaxpr = columns(quick, buffers), program.documents["jaxpr"].lines
    # { lambda ; a:f32[12,8] b:f32[6,12]. let c:f32[6,8] = dot_general[...] b a, and what is made of it
    places = list(zip(axes["row"], axes["start"], axes["end"], axes["place"], strict=True))
    assert [place for row, _, _, place in places if row == 0] == [0, 1, 2, 0]
    sizes = {(12, 0), (8, 1), (6, 2)}
    assert {(int(jaxpr[row][start:end]), place) for row, start, end, place in places} == sizes and len(places) > 6
    assert "dimensions" not in columns(*ask(program, "shardings", all=False))
    found, _ = ask(program, "dimensions", quick=False)
    costs = {one["name"]: one for one in found["dimensions"]}
    # x @ w is f32[6,8]: over 4 devices its partial sums take an all-reduce; its columns the constraint gathers.
    assert costs["w_axis0"]["sent"] == 2 * 3 / 4 * 6 * 8 * 4
    assert costs["w_axis1"]["sent"] == 3 / 4 * 6 * 8 * 4
    assert [one["kind"] for one in costs["w_axis1"]["collectives"]] == ["all-gather"] and len(found["notes"]) == 1
    assert costs["batch"]["sent"] is None and "4 devices" in costs["batch"]["why"]
    assert [one["kind"] for one in costs["w_axis0"]["collectives"]] == ["all-reduce"]
    assert found["arguments"] == [
        {"name": "w", "shape": [12, 8], "axes": [0, 1], "alike": 1},
        {"name": "x", "shape": [6, 12], "axes": [2, 0], "alike": 1},
    ]
    assert columns(*ask(program, "shardings", all=False))["dimensions"] == [
        "w_axis0, w_axis1",
        "batch, w_axis0",
        NOTHING,
    ]


def test_your_names_are_those_of_all_views(inspection: Inspection) -> None:
    give_names(inspection.program, {"w_axis1": "hidden"})
    assert "hidden" in {one["name"] for one in ask(inspection.program, "dimensions", quick=False)[0]["dimensions"]}
    give_names(inspection.program, {"hidden": "width", "d1": "features"})
    assert [one.name for one in inspection.dimensions] == ["features", "width", "batch"]
    with pytest.raises(UnknownDimension, match="width"):
        give_names(inspection.program, {"batch": "width"})
    assert [one.name for one in inspection.dimensions] == ["features", "width", "batch"]


def test_what_cannot_be_partitioned_says_why() -> None:
    scalar = inspect(lambda x: x + 1, shape(), stage="lower")
    with pytest.raises(BadRequest) as refused:
        ask(scalar.program, "dimensions", quick=False)
    assert refused.value.kind is ErrorKind.ABSENT
    for nothing in (inspect(jnp.tanh, shape(8), stage="trace"), Inspection.from_json(scalar.to_json())):
        with pytest.raises(Unavailable):
            _ = nothing.dimensions
        assert "dimensions" not in nothing.summary()["views"]
