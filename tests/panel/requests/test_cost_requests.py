"""What the cost view asks for, over costs made by hand."""

from __future__ import annotations

import gzip
import math
from types import SimpleNamespace
from typing import Any

import fakes
import jax.numpy as jnp
import numpy as np
import pytest
from made_costs import Costs, Device, Instruction, cost
from panel_requests import ask

from jaxstage_ext import inspect
from jaxstage_ext.analysis.cost import cost_wording, roofline
from jaxstage_ext.analysis.cost.ceilings import Doubt
from jaxstage_ext.panel import assets
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.program.device import device_roofline
from jaxstage_ext.program.questions.cost import cost as cost_of
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.unavailable import Unavailable
from tests.helpers.wire_columns import columns

NAN = math.nan
WORK = cost(
    Instruction("copy.1", "copy", flops=0, bytes=20, line="In [5]:3", scope="jit(f)", row=11),
    Instruction("call.2", "custom-call", flops=NAN, bytes=10, line="In [5]:2", scope="jit(f)", row=12),
    Instruction("dot.1", "dot", flops=1000, bytes=40, line="In [5]:2", scope="jit(f)/layer", row=9, runs=10),
    Instruction("call.1", "custom-call", flops=NAN, bytes=100, line="", scope="", row=-1),
    Instruction("add.1", "add", flops=5, bytes=60, line="In [5]:2", scope="jit(f)", row=10),
)
LEDGER = Table(
    "ledger",
    {
        "": Column(["FLOPs", "bytes moved"]),
        "jaxpr": Column([1000.0, NAN], "", "counted on the jaxpr"),
        "XLA": Column([NAN, NAN], "", "XLA's"),
        "measured": Column([NAN, NAN]),
    },
    {(0, "XLA"): "no analysis", (1, "XLA"): "no analysis", (1, "jaxpr"): "says nothing"},
    ("They differ.",),
)


@pytest.fixture
def inspection() -> fakes.FakeProgram:
    found = fakes.program()
    found.results.put(cost_of, Costs(WORK, roofline.read(WORK, Device(), "cpu"), LEDGER))
    return found


def test_the_headline_and_the_ledger(inspection: Any) -> None:
    result, buffers = ask(inspection, "ledger")
    assert not buffers
    roof = cost_of(inspection).roofline
    assert result["verdict"] == roof.verdict
    assert [(reason.doubt, reason.instructions) for reason in roof.reasons] == [(Doubt.FLOPS, 2)]
    assert result["bound"] == "unknown"
    assert (result["instructions"], result["unknown"]) == (5, 2)
    assert (result["flops_text"], result["bytes_text"]) == ("at least 10 kFLOP", "at least 590 B")
    assert result["open"] == "", "the made ranges have no reasons"
    assert result["unknown_share"] == pytest.approx(110 / 590)
    ledger = result["ledger"]
    assert [column["name"] for column in ledger["columns"]] == ["jaxpr", "XLA"]
    assert ledger["rows"][0]["values"] == [1000, None]
    assert ledger["rows"][1]["reasons"] == ["says nothing", "no analysis"]
    assert ledger["notes"] == ["They differ."]


def test_what_was_measured_gets_a_column(inspection: Any) -> None:
    measured = {**LEDGER.columns, "measured": Column([7.0, NAN], "", "measured")}
    cost_of.known(inspection).ledger = Table("ledger", measured)
    ledger = ask(inspection, "ledger")[0]["ledger"]
    assert [column["name"] for column in ledger["columns"]] == ["jaxpr", "XLA", "measured"]


def test_the_instructions_have_the_most_bytes_first_and_the_unknown_has_its_reason(inspection: Any) -> None:
    result, buffers = ask(inspection, "cost")
    found = columns(result, buffers)
    assert found["instruction"] == ["dot.1", "call.1", "add.1", "copy.1", "call.2"]
    assert found["bytes read"] == [200, 50, 30, 10, 5]
    assert found["bytes"] == [400, 100, 60, 20, 10]
    assert found["FLOPs"][0] == 10000
    assert math.isnan(found["FLOPs"][1])
    assert found["FLOPs: why"] == [None, "call.1 is a custom call", None, None, "call.2 is a custom call"]
    assert found["row"] == [9, -1, 10, 11, 12]
    assert found["line"] == ["In [5]:2", None, "In [5]:2", "In [5]:3", "In [5]:2"]


def test_what_is_shown_of_instructions_is_what_their_table_says(inspection: Any) -> None:
    result, buffers = ask(inspection, "cost")
    found, table = columns(result, buffers), WORK.table
    for described in result["columns"]:
        name = described["name"]
        if name in table.columns and name not in ("line", "scope", "dtype"):
            assert np.array_equal(np.asarray(found[name], object), np.asarray(table[name], object)) or np.array_equal(
                np.asarray(found[name], float), np.asarray(table[name], float), equal_nan=True
            )
            assert described.get("hint", "") in ("", table.columns[name].doc)
    intensity = [None if math.isnan(value) else value for value in found["intensity"]]
    assert intensity == [25.0, None, pytest.approx(5 / 60), 0.0, None]


def test_groups_add_up_and_tell_what_is_unknown(inspection: Any) -> None:
    result, buffers = ask(inspection, "cost_groups", group="line")
    found = columns(result, buffers)
    assert found["line"] == ["In [5]:2", None, "In [5]:3"]
    assert found["FLOPs"][0] == 10005
    assert math.isnan(found["FLOPs"][1])
    assert found["FLOPs unknown"] == [1, 1, 0]
    assert found["row"] == [9, -1, 11]
    with pytest.raises(BadRequest, match="there is no group 'colour'; there is line"):
        ask(inspection, "cost_groups", group="colour")


def test_points_of_the_roofline(inspection: Any) -> None:
    result, buffers = ask(inspection, "roofline")
    found = columns(result, buffers)
    assert found["instruction"] == ["dot.1", "add.1"]
    assert (found["intensity"][0], found["attainable"][0]) == (25, 100)
    assert result["peaks"] == {"f32 matrix": 100, "bf16 matrix": 1000, "f32 vector": 100}
    assert result["bandwidth"] == 10 and "caches" not in result
    assert result["notes"][0] == cost_wording.left_out(1, 2)


def test_the_caches_bound_what_fits_in_them_and_have_a_slope() -> None:
    found = fakes.program()
    device = Device(cache=1 << 20, cache_bandwidth=50.0)
    found.results.put(cost_of, Costs(WORK, roofline.read(WORK, device, "cpu"), LEDGER))
    result, buffers = ask(found, "roofline")
    points = columns(result, buffers)
    assert (result["bandwidth"], result["caches"]) == (10, 50)
    bound_by_memory = [
        rate / intensity for rate, intensity in zip(points["attainable"], points["intensity"], strict=True)
    ]
    assert max(bound_by_memory) == pytest.approx(result["caches"]), "no point stands above the roof that is drawn"


def test_heat_is_sent_of_rows_that_have_some(inspection: Any) -> None:
    found = columns(*ask(inspection, "heat", measure="bytes"))
    assert found == {"row": [9, 10, 11, 12], "value": [400, 60, 20, 10], "own": [400, 60, 20, 10]}
    flops = columns(*ask(inspection, "heat", measure="FLOPs"))
    assert flops["row"] == [9, 10, 12]
    assert math.isnan(flops["value"][2])
    with pytest.raises(BadRequest, match="there is no measure 'beauty'; there is FLOPs, bytes"):
        ask(inspection, "heat", measure="beauty")


def test_heat_of_memory_is_what_is_live_at_the_peak() -> None:
    real = inspect(lambda w, x: jnp.tanh(x @ w).sum(), jnp.ones((64, 32)), jnp.ones((8, 64)))
    found = columns(*ask(real.program, "heat", measure="memory"))
    peak = real.memory.peak_set
    assert sum(found["value"]) == sum(peak["size"]) == real.memory.space().peak
    assert set(found["row"]) == {row for row, size in zip(peak["row"], peak["size"], strict=True) if size}


def test_equations_and_members_of_a_real_program() -> None:
    real = inspect(lambda x: jnp.tanh(x * 2).sum(), jnp.ones((8, 8)))
    result, buffers = ask(real.program, "equations")
    found = columns(result, buffers)
    primitives = found["primitive"]
    assert {"mul", "tanh", "reduce_sum"} <= set(primitives)
    assert found["transcendentals"][primitives.index("tanh")] == 64
    lines = real.documents["jaxpr"].lines
    assert "tanh" in lines[int(found["row"][primitives.index("tanh")])]
    result, buffers = ask(real.program, "equation_groups", group="primitive")
    assert columns(result, buffers)["primitive"][0] in ("mul", "reduce_sum")
    with pytest.raises(BadRequest, match="there is no group 'colour'; there is line, scope, primitive, dtype"):
        ask(real.program, "equation_groups", group="colour")
    fusion = next(
        name
        for name, op in zip(*(real.cost.table[c] for c in ("instruction", "opcode")), strict=True)
        if op == "fusion"
    )
    result, buffers = ask(real.program, "members", instruction=fusion)
    opcodes = columns(result, buffers)["opcode"]
    assert "tanh" in opcodes
    with pytest.raises(BadRequest, match="there is no instruction 'nothing'"):
        ask(real.program, "members", instruction="nothing")


def test_without_a_compile_the_equations_are_counted_and_nothing_else() -> None:
    traced = inspect(jnp.tanh, jnp.ones(8), stage="trace")
    assert columns(*ask(traced.program, "equations"))["primitive"] == ["tanh"]
    with pytest.raises(BadRequest, match="has no optimised HLO to count"):
        ask(traced.program, "ledger")


def test_why_nothing_can_be_counted_is_told_in_one_line(inspection: Any) -> None:
    class Without(fakes.FakeProgram):
        def proto(self) -> bytes:
            raise Unavailable("f has no optimised HLO to count")

    for method, more in (("ledger", {}), ("cost", {}), ("cost_groups", {"group": "line"}), ("roofline", {})):
        with pytest.raises(BadRequest, match=r"^f has no optimised HLO to count$"):
            ask(Without(), method, **more)


def test_an_empty_program(inspection: Any) -> None:
    nothing = cost()
    inspection.results.put(cost_of, Costs(nothing, roofline.read(nothing, Device(), "cpu"), LEDGER))
    assert ask(inspection, "ledger")[0]["bytes_text"] == "0 B"
    assert columns(*ask(inspection, "cost"))["instruction"] == []
    assert columns(*ask(inspection, "cost_groups", group="scope"))["scope"] == []
    assert columns(*ask(inspection, "roofline"))["row"] == []


def test_the_script_is_sent_when_the_view_is_opened(inspection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "text", lambda name: f"the text of {name}")
    _, [data] = dispatch.answer([inspection], "script", {"doc": "cost"})
    assert gzip.decompress(data) == b"the text of cost.js"


def test_measured_times_are_sent_once_there_are_any(inspection: Any) -> None:
    before, _ = ask(inspection, "cost")
    assert "time" not in [column["name"] for column in before["columns"]]
    dot = WORK.ops.names.index(b"dot.1")
    seconds = np.where(np.arange(len(WORK.ops)) == dot, 2e-3, np.nan)
    times = SimpleNamespace(seconds=seconds, why="", runs=0)
    roof = device_roofline.with_measured(roofline.read(WORK, Device(), "cpu"), times)
    inspection.results.put(cost_of, Costs(WORK, roof, LEDGER, times))
    result, buffers = ask(inspection, "cost")
    sent = {name: np.array(values) for name, values in columns(result, buffers).items() if name in ("time", "FLOP/s")}
    [known] = np.flatnonzero(np.isfinite(sent["time"])).tolist()
    assert sent["time"][known] == 2e-3
    assert sent["FLOP/s"][known] == 1000 * 10 / 2e-3
    achieved = np.array(columns(*ask(inspection, "roofline"))["achieved"])
    assert achieved[np.isfinite(achieved)].tolist() == [1000 * 10 / 2e-3]
