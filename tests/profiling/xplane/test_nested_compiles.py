"""What happens within a compile is part of it."""

from __future__ import annotations

from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.recording import EventKind, EventLane, LaneKind
from tests.helpers.recordings import Event, recording

HOST, COMPILE, WAIT = EventKind.HOST, EventKind.COMPILE, EventKind.WAIT


def test_events_within_a_compile_of_their_lane() -> None:
    lanes = [EventLane("host", name, LaneKind.HOST) for name in ("a", "b")]
    made = recording(
        [
            Event("a", "before", 0, 1, HOST),
            Event("a", "backend_compile", 2, 10, COMPILE),
            Event("a", "dce", 3, 2, HOST),
            Event("a", "deeper", 3.5, 1, HOST),
            Event("a", "waits", 6, 1, WAIT),
            Event("a", "cse", 9, 3, HOST),
            Event("a", "overlaps its end", 11, 3, HOST),
            Event("a", "after", 15, 1, HOST),
            Event("b", "on another thread", 3, 1, HOST),
        ],
        lanes,
    )
    kinds = xplane.nested_compiles_marked(made.events).tolist()
    assert kinds == [HOST, COMPILE, COMPILE, COMPILE, WAIT, COMPILE, HOST, HOST, HOST]
