"""Profiles of several processes as one recording: on the clock that their collectives, or their starts, give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from recordings import Event, recording

from jaxstage_ext.ir.hlo import collective_groups
from jaxstage_ext.ir.hlo.sharding_field import Collective
from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.analysis import clock_wording
from jaxstage_ext.profiling.analysis.collective_waits import collective_waits
from jaxstage_ext.profiling.common_clock.blocking_ops import BlockingOps
from jaxstage_ext.profiling.common_clock.clock_alignment import MOST_APART
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.opening import open_processes
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.clock_skew import NoSkew
from jaxstage_ext.report.recording import NONE, CounterSeries, EventKind, HostClocks, Recording

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
    assert made.clocks is clocks and len(list(clock_wording.clocks(made))) == 2
    assert made.events.start.tolist() == [5_000_000, 5_000_000 if clocks is HostClocks.OWN else 6_000_000]
    assert (made.origin is None) is (clocks is HostClocks.OWN)


def test_one_profile_is_itself_and_none_or_one_of_several_hosts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert opened(monkeypatch, of(BEGAN)).clocks is None
    with pytest.raises(UnreadableProfile, match="one for each process"):
        open_processes([])
    with pytest.raises(UnreadableProfile, match="process 1"):
        opened(monkeypatch, of(BEGAN), recording([OP], hosts=("a", "b")))


STEP = 1_000.0
"""Microseconds."""
LAUNCH = 2**30


def exchanging(
    ends: Sequence[float],
    begins: Sequence[float] | None = None,
    launches: Sequence[int] = (),
    name: str = "all-reduce.1",
    **fields: Any,
) -> Recording:
    """A process that leaves an all-reduce at these times, each in a run of its own."""
    begins = [end - 5 for end in ends] if begins is None else begins
    pairs = enumerate(zip(begins, ends, strict=True))
    events = [
        Event("s", name, begin, end - begin, EventKind.COLLECTIVE, ("jit_step", name), run=run)
        for run, (begin, end) in pairs
    ]
    runs = dict(enumerate(launches))
    details = {"details": lambda event: {"run_id": LAUNCH + runs[event]}} if launches else {}
    return recording(events, **{"origin": BEGAN, "hosts": ("here",)} | details | fields)


TIMES = [100 + STEP * step for step in range(24)]
JITTER = [0, 4, -4, 2, -2, 300] * 4
"""Microseconds by which a process is told late of the end of a collective; once a thread waited for a processor."""


def other(ahead: float, hosts: tuple[str, ...] = ("there",), drift: float = 0.0, **fields: Any) -> Recording:
    """A process that left the same all-reduces, by a clock that is so many microseconds ahead."""
    late = [time + ahead + jitter + drift * time for time, jitter in zip(TIMES, JITTER, strict=True)]
    return exchanging(late, launches=range(len(late)), hosts=hosts, **fields)


@pytest.mark.parametrize("ahead", [3_200.0, -250.0])
def test_processes_are_aligned_by_the_collectives_that_all_left(monkeypatch: pytest.MonkeyPatch, ahead: float) -> None:
    made = opened(monkeypatch, exchanging(TIMES, launches=range(24)), other(ahead))
    [skew] = made.skews
    assert made.clocks is HostClocks.COLLECTIVES and skew.count == 24 and skew.kinds == ("all-reduce",)
    assert abs(skew.ahead - ahead * 10**6) <= skew.uncertainty <= 5 * 10**6 and not skew.drift
    ends = made.events.end[made.events.lane == 0], made.events.end[made.events.lane == 1]
    assert abs(float(np.median(ends[1] - ends[0]))) <= 1
    assert made.events.start.min() >= 0


def test_a_process_whose_profile_begins_two_steps_later_is_aligned_by_the_launches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = exchanging([time + 7 for time in TIMES[2:]], launches=range(2, 24), hosts=("there",))
    [skew] = opened(monkeypatch, exchanging(TIMES, launches=range(24)), late).skews
    assert (skew.ahead, skew.count, skew.is_by_order) == (7 * 10**6, 22, False)
    unknown = opened(monkeypatch, exchanging(TIMES), exchanging(TIMES[2:], hosts=("there",)))
    assert unknown.clocks is HostClocks.WALL and unknown.no_skew is NoSkew.NOT_COMMON and not unknown.skews


def test_without_launches_they_are_paired_by_their_order_and_the_start_need_not_be_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = opened(monkeypatch, exchanging(TIMES, origin=None), exchanging([t + 40_000 for t in TIMES], origin=None))
    assert made.clocks is HostClocks.COLLECTIVES and made.skews[0].is_by_order and made.origin is None
    first, second = (made.events.end[made.events.lane == lane] for lane in (0, 1))
    assert (first == second).all()


def test_the_clock_of_one_machine_is_kept_unless_collectives_refute_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = exchanging(TIMES, launches=range(24))
    assert opened(monkeypatch, first, other(40, ("here",))).clocks is HostClocks.ONE_MACHINE
    assert opened(monkeypatch, first, other(3_200, ("here",))).clocks is HostClocks.COLLECTIVES
    slow = [10 * time for time in TIMES]
    by_order = opened(monkeypatch, exchanging(slow), exchanging([time + 3_200 for time in slow]))
    assert by_order.clocks is HostClocks.ONE_MACHINE, "the n-th of each may be another one"


def test_on_one_clock_those_that_end_nearest_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    late, early = exchanging(TIMES[3:], launches=range(50, 71)), exchanging([time + 9 for time in TIMES[:20]])
    for pair in ((late, early), (early, late)):
        [skew] = opened(monkeypatch, *pair).skews
        assert (abs(skew.ahead), skew.count, skew.is_by_order) == (9 * 10**6, 17, True)


def test_few_collectives_bound_the_skew_for_nobody_leaves_before_the_last_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = exchanging([100], [90], launches=[1])
    [skew] = opened(monkeypatch, first, exchanging([150], [130], launches=[1], hosts=("there",))).skews
    assert (skew.ahead, skew.uncertainty) == ((30 + 60) * 10**6 // 2, 15 * 10**6), "130 - 100 and 150 - 90"


def test_collectives_that_take_long_tell_less_than_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every three, two take 400 µs, and process 1 leaves 90 µs after process 0; the third takes 20 µs."""
    takes = [20 if step % 3 == 0 else 400 for step in range(24)]
    late = [0 if take == 20 else 90 for take in takes]
    ends = [[time + took for time, took in zip(TIMES, takes, strict=True)] for _ in (0, 1)]
    ends[1] = [end + more for end, more in zip(ends[1], late, strict=True)]
    made = opened(monkeypatch, *(exchanging(each, TIMES, range(24), hosts=(str(at),)) for at, each in enumerate(ends)))
    assert (made.skews[0].ahead, made.skews[0].uncertainty) == (0, 20 * 10**6)


def test_a_clock_that_runs_faster_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    made = opened(monkeypatch, exchanging(TIMES, launches=range(24)), other(0, drift=0.01))
    assert made.skews[0].drift == pytest.approx(0.01 * 18 * STEP * 10**6, rel=0.05)


@pytest.mark.parametrize(("size", "is_common"), [(2, True), (1, False), (8, True)])
def test_collectives_of_each_process_alone_align_nothing(
    monkeypatch: pytest.MonkeyPatch, size: int, is_common: bool
) -> None:
    monkeypatch.setattr(BlockingOps, "devices", property(lambda ops: {0: size}))
    made = opened(monkeypatch, exchanging(TIMES, launches=range(24)), other(5))
    assert bool(made.skews) is is_common, "of so many devices, one of which each process has"


@pytest.mark.parametrize("name", ["all-reduce-start.1", "collective-permute.1", "add.1"])
def test_what_need_not_wait_for_all_aligns_nothing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    made = opened(monkeypatch, *(exchanging(TIMES, name=name, hosts=(host,)) for host in ("a", "b")))
    assert made.no_skew is NoSkew.NO_COLLECTIVE and made.clocks is HostClocks.WALL
    assert len(list(clock_wording.clocks(made))) == 2


def test_who_begins_last_and_how_long_the_first_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    begins = [[time - 50 for time in TIMES], [time - 10 for time in TIMES], [time - 30 for time in TIMES]]
    begins[1][0] -= 40
    made = opened(monkeypatch, *(exchanging(TIMES, each, range(24)) for each in begins))
    waits = collective_waits(made, without_places(made))
    latest = waits.latest()
    assert latest is not None and (latest.process, latest.times, latest.count) == (1, 23, 24)
    assert latest.seconds == pytest.approx(23 * 40e-6) and latest.typical == pytest.approx(40e-6)
    [row] = waits.table().rows()
    assert (row["last"], row["times last"], row["count"]) == (1, 23, 24)
    assert row["total"] == pytest.approx(23 * 40e-6 + 20e-6)


def test_who_is_last_by_less_than_clocks_are_known_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    made = opened(monkeypatch, exchanging(TIMES, launches=range(24)), other(0))
    assert made.skews[0].uncertainty > 0
    lasts = [one.last for one in collective_waits(made, without_places(made)).waits]
    assert lasts.count(NONE) >= 12 and lasts.count(1) == 4, "the four that were 300 µs late"


def test_group_sizes_in_each_spelling() -> None:
    assert collective_groups.group_sizes(b"") == ()
    listed = Collective(replica_groups=[{"replica_ids": [0, 1]}, {"replica_ids": [2, 3]}])
    assert collective_groups.group_sizes(listed.SerializeToString()) == (2, 2)
    iota = Collective(iota_collective_device_list={"num_replica_groups": 1, "num_devices_per_group": 8})
    assert collective_groups.group_sizes(iota.SerializeToString()) == (8,)
    mesh = {"axes": [{"name": "x", "size": 4}, {"name": "y", "size": 2}]}
    axes = Collective(mesh_axes_replica_group_list={"mesh": mesh, "axes": [{"mesh_axis_index": 0}]})
    assert collective_groups.group_sizes(axes.SerializeToString()) == (4, 4)
    assert collective_groups.group_sizes(b"\xff") is None
