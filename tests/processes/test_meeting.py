"""Processes that meet over a store: threads stand for them, a dictionary for the store. JAX is in the last alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jaxstage_ext.core.jax_private import job_store
from jaxstage_ext.processes import guarding
from jaxstage_ext.processes.arrival import Arrival, ComparedPart, EndKind, ProcessEnd
from jaxstage_ext.processes.meeting import (
    ComparingEnded,
    Meeting,
    MeetingOutcome,
    MeetingPoint,
    MeetingVerdict,
    ahead_folder,
)


@dataclass
class MadeStore:
    """A store that counts the round trips of one process."""

    process: int
    texts: dict[str, str]
    changed: threading.Condition
    trips: list[str] = field(default_factory=list)
    processes: int = 3

    def put(self, key: str, text: str) -> bool:
        self.trips.append("put")
        with self.changed:
            if key in self.texts:
                return False
            self.texts[key] = text
            self.changed.notify_all()
            return True

    def wait(self, key: str, seconds: float) -> str | None:
        self.trips.append("wait")
        with self.changed:
            self.changed.wait_for(lambda: key in self.texts, seconds)
            return self.texts.get(key)

    def entries(self, folder: str) -> dict[str, str]:
        self.trips.append("entries")
        with self.changed:
            return {key.removeprefix(folder): text for key, text in self.texts.items() if key.startswith(folder)}

    def remove(self, folder: str) -> None:
        self.trips.append("remove")
        with self.changed:
            for key in [key for key in self.texts if key.startswith(folder)]:
                del self.texts[key]


GROUP = (0, 1, 2)


def arrival(process: int, digest: str = "same") -> Arrival:
    return Arrival(process, "host", "jit_step", "train.py:1", {ComparedPart.STABLEHLO: digest})


class MadeJob:
    """Three processes at one meeting point, each of which comes after its delay; None does not come."""

    def __init__(self, timeout: float = 20.0, number: int = 1) -> None:
        self.texts: dict[str, str] = {}
        changed = threading.Condition()
        self.stores = {process: MadeStore(process, self.texts, changed) for process in GROUP}
        self.point = MeetingPoint("block", GROUP, number)
        self.timeout = timeout

    def meet(self, come: Callable[[int], Arrival | None]) -> dict[int, MeetingVerdict]:
        verdicts: dict[int, MeetingVerdict] = {}

        def one(process: int) -> None:
            if (what := come(process)) is not None:
                verdicts[process] = Meeting(self.stores[process], self.point, self.timeout).meet(what)

        threads = [threading.Thread(target=one, args=(process,)) for process in GROUP]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        return verdicts


def outcomes(verdicts: dict[int, MeetingVerdict]) -> dict[int, MeetingOutcome]:
    return {process: verdicts[process].outcome for process in sorted(verdicts)}


def test_all_go_where_all_agree_and_each_took_one_round_trip() -> None:
    job = MadeJob()
    assert outcomes(job.meet(arrival)) == dict.fromkeys(GROUP, MeetingOutcome.GO)
    followers = [job.stores[process].trips for process in (1, 2)]
    assert all(trips[0] == "put" and set(trips[1:]) == {"wait"} for trips in followers)


def test_all_stop_where_one_differs_and_one_writes_the_report() -> None:
    verdicts = MadeJob().meet(lambda process: arrival(process, "other" if process == 2 else "same"))
    assert outcomes(verdicts) == dict.fromkeys(GROUP, MeetingOutcome.DIFFER)
    assert {verdict.author for verdict in verdicts.values()} == {0}


@pytest.mark.parametrize("absent", [0, 2])
def test_those_who_came_stop_where_one_does_not_come_in_time(absent: int) -> None:
    verdicts = MadeJob(timeout=0.3).meet(lambda process: None if process == absent else arrival(process))
    assert outcomes(verdicts) == {process: MeetingOutcome.MISSING for process in GROUP if process != absent}
    assert len({verdict.author for verdict in verdicts.values()}) == 1


def test_one_who_comes_too_late_stops_too() -> None:
    def late(process: int) -> Arrival:
        time.sleep(1.0 if process == 0 else 0)
        return arrival(process)

    verdicts = MadeJob(timeout=0.2).meet(late)
    assert outcomes(verdicts) == dict.fromkeys(GROUP, MeetingOutcome.MISSING)
    assert {verdict.author for verdict in verdicts.values()} <= {1, 2}


@pytest.mark.parametrize("ended", [0, 2])
def test_nobody_waits_for_one_that_has_ended(ended: int) -> None:
    job, began = MadeJob(), time.monotonic()
    end = ProcessEnd(ended, EndKind.ERROR, "ValueError: bad", "train.py:3", 0, "")
    job.stores[ended].put(f"{job.point.ends}{ended}", end.to_json())
    verdicts = job.meet(lambda process: None if process == ended else arrival(process))
    assert set(outcomes(verdicts).values()) == {MeetingOutcome.MISSING}
    assert time.monotonic() - began < job.timeout / 2
    assert Meeting(job.stores[1], job.point, 1.0).ends() == {ended: end}


def test_what_a_meeting_wrote_is_removed_at_the_next() -> None:
    job = MadeJob(number=2)
    former = MeetingPoint("block", GROUP, 1)
    job.stores[1].put(f"{former.arrivals}1", "x")
    job.meet(arrival)
    assert not [key for key in job.texts if key.startswith(former.folder)]
    assert [key for key in job.texts if key.startswith(job.point.folder)]


def looked_at(job: MadeJob, process: int, digest: str) -> None:
    """A process has compiled the program of this digest ahead of time."""
    job.stores[process].put(f"{ahead_folder('block')}{process}/{arrival(process, digest).key}", "jit_step")


@pytest.mark.parametrize("ahead", [0, 2])
def test_one_that_has_compiled_it_before_is_not_waited_for_and_meets_the_others_at_the_next(ahead: int) -> None:
    job = MadeJob()
    looked_at(job, ahead, "first")
    first = job.meet(lambda process: None if process == ahead else arrival(process, "first"))
    assert set(outcomes(first).values()) == {MeetingOutcome.GO} and len(first) == 2
    mine = arrival(ahead, "second")
    passed = Meeting(job.stores[ahead], job.point, 5.0).meet(mine)
    assert passed.passes(mine) and not any(first[process].passes(arrival(process, "first")) for process in first)
    job.point = MeetingPoint("block", GROUP, 2)
    assert outcomes(job.meet(lambda process: arrival(process, "second"))) == dict.fromkeys(GROUP, MeetingOutcome.GO)


def test_one_that_comes_with_the_next_program_at_once_is_passed_too() -> None:
    job = MadeJob()
    looked_at(job, 0, "first")
    verdicts = job.meet(lambda process: arrival(process, "second" if process == 0 else "first"))
    assert outcomes(verdicts) == dict.fromkeys(GROUP, MeetingOutcome.GO)
    assert [verdicts[process].passes(arrival(process, "second")) for process in (0,)] == [True]


def test_one_that_has_compiled_another_program_before_is_waited_for() -> None:
    job = MadeJob(timeout=0.6)
    looked_at(job, 2, "other")
    verdicts = job.meet(lambda process: None if process == 2 else arrival(process, "first"))
    assert outcomes(verdicts) == {0: MeetingOutcome.MISSING, 1: MeetingOutcome.MISSING}
    verdicts = (again := MadeJob()).meet(lambda process: arrival(process, "other" if process == 2 else "first"))
    assert outcomes(verdicts) == dict.fromkeys(GROUP, MeetingOutcome.DIFFER) and again.texts


def test_nobody_waits_for_one_in_which_comparing_has_failed() -> None:
    job = MadeJob()
    job.stores[0].put(f"{job.point.ends}0", ProcessEnd(0, EndKind.OFF, "", "", 0, "").to_json())
    with pytest.raises(ComparingEnded):
        Meeting(job.stores[1], job.point, 20.0).meet(arrival(1))


class Unprintable(Exception):
    """A user's error whose own text raises."""

    def __str__(self) -> str:
        raise KeyError("mine")


def test_an_error_that_cannot_be_printed_ends_the_block_as_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = MadeJob().stores[1]
    monkeypatch.setattr(job_store, "job_store", lambda: store)
    with pytest.raises(Unprintable), guarding.guarded(1.0, tmp_path):
        raise Unprintable
    (told,) = store.texts.values()
    assert ProcessEnd.from_json(told).error == "Unprintable"
