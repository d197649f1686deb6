"""What is said of one event of a hand-made recording."""

from __future__ import annotations

import pytest
from helpers.recordings import MICROSECOND, Event, recording

from jaxstage_ext.profiling.lanes.event_detail import MOST_FIELDS, detail, doubts
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import NONE, EventKind, EventLane, LaneKind

HOST = EventLane("host", "main", LaneKind.HOST)


def made(*events: Event, lanes: tuple[EventLane, ...] = (), **fields: object) -> Timeline:
    recorded = recording(events, lanes, **fields)
    return Timeline(recorded, without_places(recorded))


def test_self_time_leaves_out_what_is_nested_once() -> None:
    timeline = made(
        Event("a", "while", 0, 10), Event("a", "body", 2, 5), Event("a", "inner", 3, 1), Event("a", "next", 12, 1)
    )
    assert detail(timeline, 0).self_time == 5 * MICROSECOND
    assert detail(timeline, 1).self_time == 4 * MICROSECOND
    assert detail(timeline, 3).self_time == 1 * MICROSECOND


def test_neighbours_and_what_it_is_nested_in() -> None:
    timeline = made(
        Event("a", "first", 0, 2), Event("a", "while", 3, 5), Event("a", "body", 4, 1), Event("a", "last", 9, 1)
    )
    body = detail(timeline, 2)
    assert (body.parent, body.before, body.after) == (1, 0, 3)
    first = detail(timeline, 0)
    assert (first.parent, first.before, first.after) == (NONE, NONE, 1)


def test_the_partner_of_a_launch_and_its_latency() -> None:
    launch = Event("main", "cuLaunchKernel", 1, 1, EventKind.LAUNCH, correlation=7, device=NONE)
    timeline = made(launch, Event("s", "kernel", 5, 2, EventKind.KERNEL, correlation=7), lanes=(HOST,))
    for event in (0, 1):
        partner = detail(timeline, event).partner
        assert partner is not None
        assert (partner.event, partner.latency) == (1 - event, 4 * MICROSECOND)


def test_clocks_of_two_hosts_are_not_compared() -> None:
    launch = Event("main", "launch", 1, 1, EventKind.LAUNCH, correlation=7, device=NONE)
    other = EventLane("GPU 0", "s", LaneKind.COMPUTE, 0, host=1)
    timeline = made(
        launch, Event("s", "kernel", 5, 2, EventKind.KERNEL, correlation=7), lanes=(HOST, other), hosts=("a", "b")
    )
    partner = detail(timeline, 0).partner
    assert partner is not None and partner.latency is None


def test_fields_are_bounded_and_garbage_is_marked() -> None:
    fields = {f"field{i}": "x" * 5000 for i in range(200)} | {"raw": b"\x00" * 9}
    timeline = made(Event("a", "k", 0, 1), details=lambda event: fields)
    shown = detail(timeline, 0)
    assert len(shown.fields) == MOST_FIELDS and shown.fields_left_out == 201 - MOST_FIELDS
    assert max(len(field.value) for field in shown.fields) == 1000


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("kernel_details", "regs:2191500840 static_shared:0 grid:160,1,1 block:1024,1,1", ("regs:2191500840",)),
        ("kernel_details", "regs:38 dynamic_shared:0 grid:160,1,1 block:1024,1,1 occ_pct:100", ()),
        ("kernel_details", "regs:-1 block:1024,2,1", ("regs:-1", "block:1024,2,1")),
        ("registers per thread", 40, ()),
        ("block", "[2000, 1, 1]", ("[2000, 1, 1]",)),
        ("tf_op", "jit(step)/dot", ()),
    ],
)
def test_what_cannot_be_true(name: str, value: object, wrong: tuple[str, ...]) -> None:
    assert doubts(name, value) == wrong


def test_no_such_event() -> None:
    with pytest.raises(IndexError, match="no event 5"):
        detail(made(Event("a", "k", 0, 1)), 5)
