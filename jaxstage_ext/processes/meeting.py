"""How processes meet before a program's first run: one key each, one verdict for all, over any key-value store.

The process with the lowest index waits for the others, compares, and writes the verdict; the others wait for that. A
verdict is written once: whoever gives up waiting writes one too, and the first counts.

A process that has compiled a program ahead of time does not meet when it runs it, for JAX does not compile it again. It
has told the key of that program, so the others go on without it, and it learns at its next meeting that it was passed.
"""

from __future__ import annotations

import enum
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from jaxstage_ext.processes.agreement import agree
from jaxstage_ext.processes.arrival import Arrival, EndKind, ProcessEnd
from jaxstage_ext.processes.disagreement import Group

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.1
_PAUSE_SHARE = 0.1
"""A pause between looks, as a share of the time waited so far."""
SLICE = 0.3
"""Seconds of one wait for a key, between which an interrupt takes effect."""
_CHECK = 0.25
"""Seconds between looks at which processes have ended."""


class KeyValueStore(Protocol):
    """What a meeting needs of a job's store."""

    @property
    def process(self) -> int: ...

    def put(self, key: str, text: str) -> bool: ...

    def wait(self, key: str, seconds: float) -> str | None: ...

    def entries(self, folder: str) -> dict[str, str]: ...

    def remove(self, folder: str) -> None: ...


class MeetingOutcome(enum.Enum):
    """What a meeting ends with."""

    GO = "go"
    DIFFER = "differ"
    MISSING = "missing"


@dataclass(frozen=True)
class MeetingVerdict:
    """The outcome for all, and the process that decided it, which writes the report.

    Attributes:
      key, program: of what runs now, where processes were passed that have compiled it ahead of time; else "".
    """

    outcome: MeetingOutcome
    author: int
    key: str = ""
    program: str = ""

    def to_json(self) -> str:
        return json.dumps([self.outcome.value, self.author, self.key, self.program])

    def passes(self, arrival: Arrival) -> bool:
        """Whether a process with this arrival was passed: it meets the others at the next number."""
        return self.outcome is MeetingOutcome.GO and self.key not in ("", arrival.key)

    @staticmethod
    def from_json(text: str) -> MeetingVerdict:
        """The verdict of a `to_json`."""
        outcome, author, key, program = json.loads(text)
        return MeetingVerdict(MeetingOutcome(outcome), int(author), str(key), str(program))


@dataclass(frozen=True)
class MeetingPoint:
    """Where the processes of a group meet for their program of a number.

    Attributes:
      block: the folder of keys of a block.   group: the processes.   number: of the program in its lane, from 1.
      lane: "" for the main thread's programs, which have one order; for those of other threads, whose order differs by
        process, the name of the program.
    """

    block: str
    group: Group
    number: int
    lane: str = ""

    @property
    def folder(self) -> str:
        lane = f"thread/{self.lane}" if self.lane else "main"
        return f"{self.block}/at/{'-'.join(map(str, self.group))}/{lane}/{self.number}/"

    @property
    def arrivals(self) -> str:
        return f"{self.folder}arrived/"

    @property
    def verdict(self) -> str:
        return f"{self.folder}verdict"

    @property
    def texts(self) -> str:
        return f"{self.folder}texts/"

    @property
    def report(self) -> str:
        return f"{self.folder}report"

    @property
    def former(self) -> str:
        """The folder of the meeting before, which all have left."""
        return replace(self, number=self.number - 1).folder

    @property
    def ends(self) -> str:
        return ends_folder(self.block)


def ends_folder(block: str) -> str:
    """The folder where processes say that they have ended."""
    return f"{block}/end/"


def ahead_folder(block: str) -> str:
    """The folder where processes tell the keys of what they have compiled ahead of time, as "3/key"."""
    return f"{block}/ahead/"


class ComparingEnded(Exception):
    """A process compares no more, by a fault in this package, so nobody waits for it."""


class Meeting:
    """One process at a meeting point.

    Attributes:
      waiting: called with the seconds waited so far, and whom for, after each look that did not end it.
    """

    def __init__(
        self,
        store: KeyValueStore,
        point: MeetingPoint,
        timeout: float,
        waiting: Callable[[float, Group], None] = lambda seconds, absent: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.store, self.point, self._timeout, self._waiting = store, point, timeout, waiting
        self._clock, self._sleep = clock, sleep
        self._began = self._checked = clock()

    @property
    def waited(self) -> float:
        """Seconds since the meeting began here."""
        return self._clock() - self._began

    def meet(self, arrival: Arrival) -> MeetingVerdict:
        """Tell what this process is about to run, and wait for what comes of it."""
        self.store.put(f"{self.point.arrivals}{arrival.process}", arrival.to_json())
        return self._lead() if self.store.process == self.point.group[0] else self._follow()

    def arrivals(self) -> dict[int, Arrival]:
        """The processes that have arrived so far."""
        found = self.store.entries(self.point.arrivals)
        return {int(process): Arrival.from_json(found[process]) for process in sorted(found, key=int)}

    def ends(self) -> dict[int, ProcessEnd]:
        """The processes of the group that have ended, and do not wait here."""
        found = self.store.entries(self.point.ends)
        return {int(one): ProcessEnd.from_json(text) for one, text in found.items() if int(one) in self.point.group}

    def _lead(self) -> MeetingVerdict:
        while True:
            arrivals = self.arrivals()
            if len(arrivals) == len(self.point.group):
                return self._decide_all(arrivals)
            absent = tuple(process for process in self.point.group if process not in arrivals)
            if (verdict := self._look(absent)) is not None:
                return verdict
            self._waiting(self.waited, absent)
            self._sleep(min(max(self.waited * _PAUSE_SHARE, _FIRST_PAUSE), _LONGEST_PAUSE))

    def _follow(self) -> MeetingVerdict:
        leader = self.point.group[0]
        while (text := self.store.wait(self.point.verdict, SLICE)) is None:
            if (verdict := self._look((leader,))) is not None:
                return verdict
            self._waiting(self.waited, (leader,))
        return MeetingVerdict.from_json(text)

    def _look(self, absent: Group) -> MeetingVerdict | None:
        """The verdict where the time is over, one of these has ended, or all have compiled the program before."""
        if self.waited > self._timeout:
            return self._decide(MeetingVerdict(MeetingOutcome.MISSING, self.store.process))
        if self._clock() - self._checked < _CHECK:
            return None
        self._checked = self._clock()
        ahead = self._ahead()
        if not ahead.keys().isdisjoint(absent) and (passing := self._passing(self.arrivals(), ahead)) is not None:
            return self._decide(passing)
        ends = [end for process, end in self.ends().items() if process in absent]
        if any(end.kind is EndKind.OFF for end in ends):
            raise ComparingEnded
        if not ends:
            return None
        return self._decide(MeetingVerdict(MeetingOutcome.MISSING, self.store.process))

    def _ahead(self) -> dict[int, set[str]]:
        """The keys of what each process has compiled ahead of time."""
        found: dict[int, set[str]] = {}
        for name in self.store.entries(ahead_folder(self.point.block)):
            process, _, key = name.partition("/")
            found.setdefault(int(process), set()).add(key)
        return found

    def _passing(self, arrivals: Mapping[int, Arrival], ahead: Mapping[int, set[str]]) -> MeetingVerdict | None:
        """The verdict to go on with what some have arrived with and all others have compiled ahead of time."""
        for arrival in arrivals.values():
            others = [one for one in self.point.group if one not in arrivals or arrivals[one].key != arrival.key]
            if others and all(arrival.key in ahead.get(one, ()) for one in others):
                return MeetingVerdict(MeetingOutcome.GO, self.store.process, arrival.key, arrival.program)
        return None

    def _decide_all(self, arrivals: Mapping[int, Arrival]) -> MeetingVerdict:
        if agree(arrivals.values()):
            return self._decide(MeetingVerdict(MeetingOutcome.GO, self.store.process))
        differ = MeetingVerdict(MeetingOutcome.DIFFER, self.store.process)
        return self._decide(self._passing(arrivals, self._ahead()) or differ)

    def _decide(self, verdict: MeetingVerdict) -> MeetingVerdict:
        """The verdict of this process, or that which another was first to write."""
        if not self.store.put(self.point.verdict, verdict.to_json()):
            written = self.store.wait(self.point.verdict, self._timeout)
            return MeetingVerdict.from_json(written) if written is not None else verdict
        if verdict.outcome is MeetingOutcome.GO and not verdict.key and self.point.number > 1:
            self.store.remove(self.point.former)  # all have arrived here, and so have left it
        return verdict
