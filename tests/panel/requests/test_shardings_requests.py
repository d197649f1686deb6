"""The requests of the tabs shardings, collectives and dtypes: what the panel gets is what JAX says."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from panel_requests import ask

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.wire_form import NOTHING, packed_table
from jaxstage_ext.program.device.program_devices import NO_SPEED_OF_TARGET
from jaxstage_ext.program.questions.propagated_module import propagation_dump
from jaxstage_ext.report.table import Column, Table
from tests.helpers.wire_columns import columns

pytestmark = pytest.mark.usefixtures("no_workers_left")


def shape(*sizes: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def layer(w, x):
    h = (x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32)
    return jnp.tanh(h).sum(), h


@pytest.fixture(scope="module")
def laid() -> Inspection:
    specs = (P("data", "model"), P(None, "data"))
    return inspect(layer, shape(64, 32), shape(10, 64), target="cpu:4", mesh={"data": 2, "model": 2}, in_specs=specs)


def column(reply: tuple[dict[str, Any], list[bytes]], name: str) -> list[Any]:
    return columns(*reply)[name]


def by_name(inspection: Inspection, name: str, **params: Any) -> tuple[dict[str, Any], list[bytes]]:
    values = column(ask(inspection.program, "shardings", **params), "value")
    return ask(inspection.program, "sharding_map", value=values.index(name), **params)


def drawn(reply: tuple[dict[str, Any], list[bytes]]) -> dict[int, tuple[slice, ...]]:
    """Per device what it holds, from the parts and their holders alone."""
    told = reply[0]
    parts = np.array(column(reply, "holders")).reshape(*told["tiles"], -1)
    found = {}
    for place in np.ndindex(*parts.shape):
        sizes = zip(place, told["shard"], told["shape"], strict=False)
        found[int(parts[place])] = tuple(slice(min(i * n, whole), min((i + 1) * n, whole)) for i, n, whole in sizes)
    return found


def test_the_map_of_an_argument_is_that_of_jax(laid: Inspection) -> None:
    reply = by_name(laid, "w")
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    jaxs = NamedSharding(mesh, P("data", "model")).devices_indices_map((64, 32))
    assert drawn(reply) == {device.id: held for device, held in jaxs.items()}
    told = reply[0]
    assert told["mesh"] == {"names": ["data", "model"], "sizes": [2, 2]}
    assert (told["copies"], told["bytes"]) == (1, 32 * 16 * 4)
    assert column(reply, "order") == [device.id for device in mesh.devices.ravel()]


def test_values_are_listed_with_who_chose_and_how_much_a_device_holds(laid: Inspection) -> None:
    reply = ask(laid.program, "shardings")
    assert column(reply, "value") == ["w", "x", "result[0]", "result[1]"]
    assert column(reply, "chosen by") == ["you", "you", "compiler", "compiler"]
    assert column(reply, "per device")[:2] == [32 * 16 * 4, 10 * 32 * 4]
    assert reply[0]["mesh"] == "data=2, model=2"
    assert [place[0] for place in reply[0]["places"]] == list(range(4))


def test_intermediates_come_when_they_are_asked_for(laid: Inspection) -> None:
    few, all_ = ask(laid.program, "shardings"), ask(laid.program, "shardings", all=True)
    assert len(column(all_, "kind")) > len(column(few, "kind"))
    kinds = column(all_, "kind")
    row = kinds.index("intermediate")
    reply = ask(laid.program, "sharding_map", value=row, all=True)
    assert sorted(column(reply, "holders")) == list(range(4))
    assert reply[0]["chosen"] in ("compiler", "you")


def test_a_value_that_is_not_there_is_a_bad_request(laid: Inspection) -> None:
    with pytest.raises(BadRequest):
        ask(laid.program, "sharding_map", value=99)


def test_collectives_are_told_before_the_compiler_is_asked_what_caused_them() -> None:
    specs = (P("data", "model"), P(None, "data"))
    mesh = {"data": 2, "model": 2}
    inspection = inspect(layer, shape(64, 32), shape(10, 64), target="cpu:4", mesh=mesh, in_specs=specs)
    quick = ask(inspection.program, "collectives", quick=True)
    assert not propagation_dump.is_known(inspection.program)
    assert not {"cause", "from", "to"} & {field["name"] for field in quick[0]["columns"]}
    whole = ask(inspection.program, "collectives")
    assert propagation_dump.is_known(inspection.program)
    for name in ("collective", "axes", "payload", "sent", "overlap", "runs"):
        assert column(quick, name) == column(whole, name)


def test_collectives_go_with_their_headline_their_rows_and_their_reasons(laid: Inspection) -> None:
    result, _ = reply = ask(laid.program, "collectives")
    found = laid.collectives
    assert result["headline"] == found.headline
    assert result["headline"].startswith("The costliest of") or result["headline"].startswith("One collective")
    assert column(reply, "collective") == [row.op.kind for row in found.rows]
    assert np.isnan(column(reply, "time")).all()
    assert column(reply, "time: why")[0] == NO_SPEED_OF_TARGET
    lines = laid.documents["hlo"].text.splitlines()
    for row, name in zip(column(reply, "row"), result["more"]["instruction"], strict=True):
        assert f"%{name} " in lines[row]


def test_conversions_go_with_their_headline(laid: Inspection) -> None:
    result, _ = reply = ask(laid.program, "dtypes")
    assert "the program promotes 1 value, demotes 2 values" in result["headline"].lower()
    stages = column(reply, "stage")
    assert stages.count("jaxpr") == 3
    assert [row for row, stage in zip(column(reply, "row"), stages, strict=True) if stage == "jaxpr"] == [-1] * 3


def test_a_table_travels_as_it_is() -> None:
    columns = {
        "name": Column(["a", None, "", "a"]),
        "size": Column(np.array([1.0, np.nan, 3.0, 0.0]), "B", "how large"),
        "left out": Column([1, 2, 3, 4]),
    }
    reasons = {(1, "size"): "nobody knows", (2, "left out"): "no"}
    reply = packed_table(Table("sizes", columns, reasons), {"name": "n", "size": "s"})
    assert column(reply, "name") == ["a", None, NOTHING, "a"]
    size = column(reply, "size")
    assert (size[0], np.isnan(size[1]), size[2:]) == (1.0, True, [3.0, 0.0])
    assert reply[0]["columns"][1] == {"name": "size", "title": "s", "hint": "how large", "unit": "B", "dtype": "f8"}
    assert column(reply, "size: why") == [None, "nobody knows", None, None]
