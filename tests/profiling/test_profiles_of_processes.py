"""Profiles of several processes as one recording: on one clock where each says when it began, and apart where not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from recordings import Event, recording

from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.opening import MOST_APART, open_processes
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import CounterSeries, HostClocks, Recording

BEGAN = 1_790_000_000 * 10**9
OP = Event("s", "add", 5, 1)


def opened(monkeypatch: pytest.MonkeyPatch, *recordings: Recording) -> Recording:
    """What is opened where the profiles of the processes are these."""
    known = dict(enumerate(recordings))
    monkeypatch.setattr(opening, "open_recording", lambda source, title="": known[int(source)])
    return open_processes([str(number) for number in known])


def of(origin: int | None, host: str = "here", **fields: Any) -> Recording:
    return recording([OP], origin=origin, hosts=(host,), **fields)


def test_each_event_is_when_it_was_by_the_clock_of_their_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    made = opened(monkeypatch, of(BEGAN + 7_000), of(BEGAN), of(BEGAN + 2_000_000))
    assert made.clocks is HostClocks.ONE_MACHINE and made.origin == BEGAN
    assert made.hosts == ("process 0", "process 1", "process 2")
    assert [lane.host for lane in made.lanes] == [0, 1, 2]
    assert made.events.start.tolist() == [12_000_000, 5_000_000, 2_005_000_000]
    assert (made.events.duration == 1_000_000).all()


def test_what_was_sampled_is_moved_too(monkeypatch: pytest.MonkeyPatch) -> None:
    series = CounterSeries(0, "power", np.array([0, 10**6], np.int64), np.array([1.0, 2.0]))
    made = opened(monkeypatch, of(BEGAN), replace(of(BEGAN + 3_000), counters=(series,)))
    assert made.counters[0].time.tolist() == [3_000_000, 4_000_000] and made.counters[0].lane == 1


@pytest.mark.parametrize(
    ("second", "clocks"),
    [
        (of(BEGAN + 1_000, "there"), HostClocks.WALL),
        (of(BEGAN + 1_000, ""), HostClocks.WALL),
        (of(None), HostClocks.OWN),
        (of(BEGAN + MOST_APART + 1), HostClocks.OWN),
    ],
    ids=["another machine", "a machine without a name", "no start", "another day"],
)
def test_clocks_that_may_differ_are_said_to(
    monkeypatch: pytest.MonkeyPatch, second: Recording, clocks: HostClocks
) -> None:
    made = opened(monkeypatch, of(BEGAN), second)
    assert made.clocks is clocks and len(list(timeline_wording.clocks(made))) == 1
    assert made.events.start.tolist() == [5_000_000, 5_000_000 if clocks is HostClocks.OWN else 6_000_000]
    assert (made.origin is None) is (clocks is HostClocks.OWN)


def test_one_profile_is_itself_and_none_or_one_of_several_hosts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert opened(monkeypatch, of(BEGAN)).clocks is None
    with pytest.raises(UnreadableProfile, match="one for each process"):
        open_processes([])
    with pytest.raises(UnreadableProfile, match="process 1"):
        opened(monkeypatch, of(BEGAN), recording([OP], hosts=("a", "b")))
