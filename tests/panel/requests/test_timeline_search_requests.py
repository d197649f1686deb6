"""Search and the details of an event, as the front end asks for them."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
import pytest
from helpers.recordings import Event, recording

from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.requests.timeline_search_requests import PAGE
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.report.recording import NONE, EventKind, EventLane, LaneKind


def program(*events: Event, **fields: Any) -> RecordedProgram:
    lanes = (EventLane("host", "main", LaneKind.HOST),)
    made = recording(events, lanes, **fields)
    return RecordedProgram(Timeline(made, without_places(made)))


def ask(made: RecordedProgram, method: str, **params: Any) -> tuple[dict[str, Any], dict[str, list[float]]]:
    result, buffers = dispatch.answer([made], method, {"call": 0, **params})
    columns = {
        column["name"]: np.frombuffer(gzip.decompress(buffer), f"<{column['dtype']}").tolist()
        for column, buffer in zip(result.get("columns", ()), buffers, strict=False)
    }
    return result, columns


def test_hits_come_in_the_order_of_time_in_seconds() -> None:
    made = program(Event("a", "dot", 2e6, 3), Event("b", "DOT.2", 1e6, 1), Event("b", "add", 0, 1))
    result, columns = ask(made, "timeline search", query="dot", page=0)
    assert result["total"] == 2
    assert columns["start"] == [1.0, 2.0]
    assert columns["duration"] == [1e-6, 3e-6]


def test_all_hits_are_counted_and_sent_by_the_page() -> None:
    made = program(*(Event("a", "k", i, 1) for i in range(PAGE + 5)))
    result, columns = ask(made, "timeline search", query="k", page=1)
    assert (result["total"], result["first"], len(columns["event"])) == (PAGE + 5, PAGE, 5)


@pytest.mark.parametrize(("query", "page"), [("x" * 501, 0), (None, 0), ("x", -1), ("x", 0.5)])
def test_what_is_no_search(query: Any, page: Any) -> None:
    with pytest.raises(BadRequest):
        ask(program(Event("a", "k", 0, 1)), "timeline search", query=query, page=page)


def test_the_details_of_a_launched_kernel() -> None:
    launch = Event("main", "cuLaunchKernel", 1, 1, EventKind.LAUNCH, correlation=7, device=NONE)
    kernel = Event("s", "<b>gemm</b>", 5, 2, EventKind.KERNEL, ("jit_f", "dot.1"), correlation=7)
    made = program(launch, kernel, details=lambda event: {"kernel_details": "regs:2191500840", "context": 1})
    result, _ = ask(made, "timeline detail", event=1)
    assert (result["name"], result["kind"], result["op"], result["module"]) == (
        "<b>gemm</b>",
        "kernel",
        "dot.1",
        "jit_f",
    )
    assert result["partner"]["words"] == "launched by cuLaunchKernel; the work starts 4 µs after the launch does"
    assert result["fields"][0] == {
        "name": "kernel_details",
        "value": "regs:2191500840",
        "doubtful": ["regs:2191500840"],
    }
    assert (result["line"], result["row"]) == ("", NONE)


def test_no_such_event() -> None:
    with pytest.raises(BadRequest, match="from 0 to 0, not 7"):
        ask(program(Event("a", "k", 0, 1)), "timeline detail", event=7)
    with pytest.raises(BadRequest, match="no events"):
        ask(program(), "timeline detail", event=0)
