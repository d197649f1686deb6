"""What the panel is told about memory: columns of buffers, what lives at a moment, the backward pass, out of memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from counted_calls import calls_of
from panel_requests import ask

from jaxstage_ext import inspect
from jaxstage_ext.analysis.memory import allocation_map
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import memory_requests
from jaxstage_ext.program import tabs
from tests.golden.record import load_programs
from tests.helpers.wire_columns import columns

PROGRAMS = load_programs().PROGRAMS
X = jnp.ones((64, 64))


pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


def step(w: jax.Array, x: jax.Array) -> jax.Array:
    return w - jax.grad(lambda w: jnp.sin(jnp.sin(x @ w) @ w).sum())(w)


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    return inspect(step, X, X)


def row_of(table: dict[str, Any], buffers: list[bytes], row: int) -> list[Any]:
    return [cells[row] for cells in columns(table, buffers).values()]


def test_columns_of_all_buffers(inspection: Inspection) -> None:
    result, buffers = ask(inspection.program, "memory")
    found = columns(result, buffers)
    table = inspection.memory.scheduled.buffers
    assert result["buffers"] == len(table) == len(found["start"])
    assert found["size"] == table.size.tolist() and found["kind"] == table.kind.tolist()
    names = found["names"]
    assert names[:1] == ["result"] or "w" in names
    rows = found["row"]
    lines = inspection.documents["hlo"].lines
    for row, value in zip(rows, table.value.tolist(), strict=True):
        if row >= 0:
            assert f"%{inspection.memory.title(value).partition('{')[0]} = " in lines[row]
    own = [line or "" for line in found["line"]]
    assert own == list(inspection.memory.buffers["line"]) and any(own)
    [space] = result["spaces"]
    assert max(found["live 0"]) == space["peak"] and space["name"] == "memory"
    assert len(found["order"]) == len(inspection.memory.scheduled.schedule) == len(found["steps"])
    assert result["fit"]["answer"] == "yes" and set(result["tables"]) >= {"arguments", "advice", "checks"}
    assert next(iter(columns(result["tables"]["arguments"], buffers).values()))[0] == "w"


def test_a_page_that_is_opened_again_is_told_the_same_at_once(
    inspection: Inspection, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, buffers = ask(inspection.program, "memory")
    pictures = calls_of(monkeypatch, memory_requests, "_picture")
    again, others = ask(inspection.program, "memory")
    assert again == first and others == buffers
    assert pictures == []


def test_what_lives_at_a_moment(inspection: Inspection) -> None:
    ask(inspection.program, "memory")
    peak = inspection.memory.space().position
    result, buffers = ask(inspection.program, "memory at", space=0, position=peak)
    assert result["live"] == inspection.memory.space().peak
    table = result["table"]
    assert [column["name"] for column in table["columns"]][:2] == ["buffer", "size"]
    found = columns(table, buffers)
    assert len(found["buffer"]) == len(found["row"]) == table["total"]
    for start, end, place in zip(found["from"], found["to"], found["row"], strict=True):
        assert start <= peak <= end and place >= -1


def test_the_backward_pass(inspection: Inspection) -> None:
    ask(inspection.program, "memory")
    result, buffers = ask(inspection.program, "kept", policy="")
    assert columns(result["policies"], buffers)["policy"][:2] == ["as written", "nothing_saveable"]
    assert columns(result["lines"], buffers)["line"] and result["arrays"]["total"] > 0
    nothing, buffers = ask(inspection.program, "kept", policy="nothing_saveable")
    assert columns(nothing["lines"], buffers)["line"] == []


def test_a_policy_is_compiled_on_request() -> None:
    program = inspect(step, X, X, stage="lower").program
    ask(program, "memory")
    before, buffers = ask(program, "kept", policy="")
    assert before["compiled"] == [True, False, False, False, False]
    assert row_of(before["policies"], buffers, 1)[3:] == ["not compiled"] * 3
    after, buffers = ask(program, "policy", policy="dots_saveable")
    assert after["compiled"] == [True, False, False, True, False]
    assert "not compiled" not in row_of(after["policies"], buffers, 3) and after["text"].startswith(
        "dots_saveable: peak of "
    )


def test_donation_is_compiled_on_request_and_said_to_be_compiled() -> None:
    """What the button promises is what `with_donation` gives: the same figures, and no button any more."""

    def update(state: Any, x: Any) -> Any:
        return state + x.sum()

    inspection = inspect(update, jnp.ones((64, 64)), jnp.ones((8,)), stage="lower")
    before, _ = ask(inspection.program, "memory")
    assert before["donate"] == ["state"] and "not computed yet" in str(before["tables"]["advice"]["strings"])
    after, buffers = ask(inspection.program, "donation")
    trial = inspection.memory.with_donation("state")
    assert trial.saved == 64 * 64 * 4  # the result takes the place of the argument
    assert any(str(trial) in cells for cells in columns(after["advice"], buffers).values())
    again, others = ask(inspection.program, "memory")
    assert again["donate"] == []
    assert columns(again["tables"]["advice"], others) == columns(after["advice"], buffers)


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("policy", {"policy": ""}, "unknown policy ''"),
        ("memory at", {"space": 7, "position": 0}, "this program has no memory space 7"),
        ("memory at", {"space": 0, "position": 10**6}, "position must be"),
        ("memory at", {"space": "a", "position": 0}, "space must be"),
        ("kept", {"policy": "x"}, "unknown policy 'x'"),
    ],
)
def test_bad_requests(inspection: Inspection, method: str, params: dict[str, Any], message: str) -> None:
    ask(inspection.program, "memory")
    with pytest.raises(BadRequest, match=message):
        ask(inspection.program, method, **params)


def test_a_look_that_was_not_taken_and_one_that_cannot_be() -> None:
    with pytest.raises(BadRequest, match="has not been analysed yet"):
        ask(inspect(step, X, X, stage="lower").program, "memory at", space=0, position=0)
    with pytest.raises(BadRequest, match="was not lowered here"):
        ask(inspect(step, X, X, stage="trace").program, "memory")
    forward = inspect(jnp.sin, X, stage="lower")
    ask(forward.program, "memory")
    with pytest.raises(BadRequest, match="computes no derivative"):
        ask(forward.program, "kept", policy="")


def test_of_very_many_buffers_the_largest_are_sent(inspection: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_requests._answers.clear()
    monkeypatch.setattr(memory_requests, "MOST_BUFFERS", 3)
    monkeypatch.setattr(memory_requests, "MOST_POSITIONS", 3)
    result, buffers = ask(inspection.program, "memory")
    found = columns(result, buffers)
    assert len(found["start"]) == 3 < result["buffers"] and "steps" not in found
    assert min(found["size"]) >= sorted(inspection.memory.scheduled.buffers.size)[-3]
    memory_requests._answers.clear()


@pytest.mark.parametrize("target", ["local", "v5e:2x2"])
@pytest.mark.parametrize("program", [name for name in PROGRAMS if name != "callback"])
def test_nothing_in_the_picture_overlaps(program: str, target: str) -> None:
    needs(target)
    function, arguments = PROGRAMS[program]
    memory = inspect(function, *arguments, stage="lower", target=target).memory
    found, low = memory.scheduled.buffers, allocation_map.heights(memory.scheduled)
    high = low + found.size
    for space in memory.spaces:
        mine = np.flatnonzero((found.space == space.color) & (found.size > 0))
        assert (high[mine] <= space.reserved).all()
        for i in mine:
            together = mine[(found.start[mine] <= found.end[i]) & (found.start[i] <= found.end[mine]) & (mine != i)]
            assert ((low[together] >= high[i]) | (high[together] <= low[i])).all()


def test_out_of_memory_opens_the_memory() -> None:
    error = SimpleNamespace(stage="compile", message="RESOURCE_EXHAUSTED: Ran out of memory on HBM")
    assert tabs.out_of_memory(SimpleNamespace(error=error))  # type: ignore[arg-type]
    assert not tabs.out_of_memory(SimpleNamespace(error=None))  # type: ignore[arg-type]
    error.message = "INTERNAL"
    assert not tabs.out_of_memory(SimpleNamespace(error=error))  # type: ignore[arg-type]
