"""The guard of one block: compares each program that spans processes with the other processes before its first run."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.events.event_place import EventPlace, event_place
from jaxstage_ext.core.jax_private import job_store, pending_compile
from jaxstage_ext.core.jax_private.compile_frames import EventFrames
from jaxstage_ext.core.jax_private.job_store import JobStore, StoreLost
from jaxstage_ext.core.jax_private.pending_compile import PendingCompile
from jaxstage_ext.processes import preflight_wording, program_reading
from jaxstage_ext.processes.agreement import agree
from jaxstage_ext.processes.arrival import Arrival, EndKind, ProcessEnd
from jaxstage_ext.processes.cause_search import differing_programs, missing_processes
from jaxstage_ext.processes.disagreement import Disagreement, Group
from jaxstage_ext.processes.meeting import (
    ComparingEnded,
    Meeting,
    MeetingOutcome,
    MeetingPoint,
    MeetingVerdict,
    ahead_folder,
    ends_folder,
)
from jaxstage_ext.processes.preflight_report import error_text, report_text, write_report
from jaxstage_ext.processes.processes_disagree import ProcessesDisagree
from jaxstage_ext.processes.program_texts import ProgramTexts
from jaxstage_ext.processes.shared_report import SharedReport

_TEXTS_TIMEOUT, _REPORT_TIMEOUT = 20.0, 60.0
"""Seconds that texts, and the report, are waited for once programs differ."""
_FIRST_NOTE = 10.0
"""Seconds of waiting until a note says so; each further one after twice the time."""
_FAREWELL = 3.0
"""Seconds that the process which keeps the store waits, after an error, until the others have heard of it."""
_FOLDER = "jaxstage/preflight"


Lane = tuple[Group, str]
"""The processes of programs that have an order, and the name of the program in threads other than the main one."""


class Guard:
    """The state of one block in this process. `check` is called at each compile, in any thread.

    Attributes:
      compared: how many programs this process has compared.   seconds: what comparing has taken in all.
      ahead_of_time: how many programs were compiled ahead of time, and so not compared.
    """

    def __init__(self, block: int, timeout: float, folder: Path) -> None:
        self._block, self._timeout, self._folder = f"{_FOLDER}/{block}", timeout, folder
        self._store: JobStore | None = None
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._names: defaultdict[Lane, list[str]] = defaultdict(list)
        self._meetings: Counter[Lane] = Counter()
        self._agreed: set[str] = set()
        self._environment: Mapping[str, str] = {}
        self._is_lost, self._system_process = False, os.getpid()
        self.compared, self.ahead_of_time, self.seconds = 0, 0, 0.0

    def renewed(self, block: int, timeout: float, folder: Path) -> Guard:
        """The guard of the next block, after a process has ended this one; what all have agreed on goes on counting."""
        guard = Guard(block, timeout, folder)
        guard._store, guard._names, guard._environment = self._store, self._names, self._environment
        return guard

    @property
    def _compares(self) -> bool:
        """Whether it does: not in a process that was forked from this one, which is none of the job."""
        return not self._is_lost and os.getpid() == self._system_process

    def check(self, frames: EventFrames) -> None:
        """Compare the program that is about to be compiled. Raises ProcessesDisagree where it must not run."""
        if not self._compares or not pending_compile.spans_processes(frames):
            return
        store, pending = job_store.job_store(), pending_compile.pending_compile(frames)
        if store is None or pending is None or store.process not in pending.processes:
            return
        name = "" if threading.current_thread() is threading.main_thread() else pending.name
        with self._locks[name]:
            try:
                self._check(store, pending, event_place(frames.outside), (pending.processes, name), frames)
            except StoreLost as error:
                self._is_lost = True
                note(preflight_wording.store_lost(str(error)))
            except ComparingEnded:
                self._turn_off(store, preflight_wording.ELSEWHERE)
            except ProcessesDisagree as error:
                _log_stopped(frames, pending, error)
                raise
            except Exception as error:  # a fault of ours stops no job
                self._turn_off(store, f"{type(error).__name__}: {error}")

    def _turn_off(self, store: JobStore, reason: str) -> None:
        """Compare no more, and let nobody wait for this process."""
        self._is_lost = True
        note(preflight_wording.failed(reason))
        off = ProcessEnd(store.process, EndKind.OFF, reason, "", self.compared, "")
        with contextlib.suppress(StoreLost):
            store.put(f"{ends_folder(self._block)}{store.process}", off.to_json())

    def end(self, error: BaseException | None, place: str, stays: bool = False) -> None:
        """The block has ended in this process, with an error or without: tell the others. Raises nothing.

        A process that `stays` has ended a cell and not itself: nobody has to hear of it before it is gone.
        """
        store = job_store.job_store()
        if store is None or not self._compares:
            return
        if self.ahead_of_time and store.process == 0:
            note(preflight_wording.ahead_of_time(self.ahead_of_time))
        names = [name for each in self._names.values() for name in each]
        kind = EndKind.LEFT if _ends_well(error) else EndKind.ERROR
        told = ProcessEnd(store.process, kind, _first_line(error), place, len(names), names[-1] if names else "")
        with contextlib.suppress(StoreLost):
            store.put(f"{ends_folder(self._block)}{store.process}", told.to_json())
            is_last_word = kind is EndKind.ERROR and store.process == 0 and not stays
            if is_last_word and not isinstance(error, ProcessesDisagree):
                self._wait_for_others(store)

    def is_over(self) -> bool:
        """Whether a process has ended the block. One round trip."""
        store = job_store.job_store()
        if store is None or not self._compares:
            return False
        with contextlib.suppress(StoreLost):
            return bool(store.entries(ends_folder(self._block)))
        return False

    def _wait_for_others(self, store: JobStore) -> None:
        meeting = Meeting(store, MeetingPoint(self._block, tuple(range(store.processes)), 0), _FAREWELL)
        while meeting.waited < _FAREWELL and len(meeting.ends()) < store.processes:
            store.wait(f"{self._block}/nothing", 0.1)

    def _check(
        self, store: JobStore, pending: PendingCompile, place: EventPlace, lane: Lane, frames: EventFrames
    ) -> None:
        self._begin(store, pending)
        digests, where = program_reading.digests(pending, self._environment), place.user_line
        label = f"{program_reading.place_label(where.file)}:{where.line}" if where is not None else ""
        arrival = Arrival(store.process, socket.gethostname(), pending.name, label, digests)
        if arrival.key in self._agreed:
            return
        if frames.is_ahead_of_time:  # it may never run, and processes may differ in what they only look at
            self.ahead_of_time += 1
            store.put(f"{ahead_folder(self._block)}{store.process}/{arrival.key}", pending.name)
            return
        names = self._names[lane]
        meeting, verdict = self._meet(store, lane, arrival)
        self.seconds += meeting.waited
        if verdict.outcome is not MeetingOutcome.GO:
            read = functools.partial(
                program_reading.program_texts, store.process, pending, where, self._environment, tuple(names)
            )
            raise self._disagree(meeting, verdict, read, tuple(names))
        names.append(pending.name)
        self._agreed.add(arrival.key)
        self.compared += 1

    def _meet(self, store: JobStore, lane: Lane, arrival: Arrival) -> tuple[Meeting, MeetingVerdict]:
        """The meeting for a program, after those at which this process was passed."""
        notes = _Notes(arrival)
        while True:
            self._meetings[lane] += 1
            group, name = lane
            point = MeetingPoint(self._block, group, self._meetings[lane], name)
            meeting = Meeting(store, point, self._timeout, notes.waiting)
            verdict = meeting.meet(arrival)
            if not verdict.passes(arrival):
                return meeting, verdict
            self._names[lane].append(verdict.program)
            self._agreed.add(verdict.key)

    def _begin(self, store: JobStore, pending: PendingCompile) -> None:
        if self._store is None or not job_store.is_same_job(self._store, store):
            self._store = store
            self._names.clear()
            self._meetings.clear()
            self._agreed.clear()
            self._environment = pending_compile.environment(pending.devices[0].client)

    def _disagree(
        self,
        meeting: Meeting,
        verdict: MeetingVerdict,
        read: Callable[[], ProgramTexts],
        agreed: tuple[str, ...],
    ) -> ProcessesDisagree:
        shared = SharedReport(meeting.store, meeting.point)
        if verdict.outcome is MeetingOutcome.DIFFER:
            with contextlib.suppress(ValueError, TypeError, AttributeError, LookupError):  # less to show, still no run
                shared.send(read())
        if verdict.author != meeting.store.process:
            return shared.wait(_REPORT_TIMEOUT)
        found = replace(_found(len(agreed) + 1, meeting, verdict.outcome, shared), agreed=agreed)
        report = write_report(report_text(found), self._folder)
        where = f"{report} on {socket.gethostname()}" if report else "not written: no folder can be written to"
        line = str(found.place) if found.place is not None else next((end.place for end in found.ends.values()), "")
        error = ProcessesDisagree(error_text(found, where), found.cause, line, report)
        shared.publish(error)
        return error


def _log_stopped(frames: EventFrames, pending: PendingCompile, error: ProcessesDisagree) -> None:
    """The compile log has heard the program's compile begin, and hears no end of it."""
    if listening.is_on():
        from jaxstage_ext.compilation.events import stage_events, stage_results

        stage_results.quietly(None, stage_events.stopped, frames, pending.name, pending.processes, error)


def _found(number: int, meeting: Meeting, outcome: MeetingOutcome, shared: SharedReport) -> Disagreement:
    arrivals = meeting.arrivals()
    absent = tuple(process for process in meeting.point.group if process not in arrivals)
    if outcome is MeetingOutcome.DIFFER:
        return differing_programs(number, arrivals, shared.texts(arrivals.keys(), _TEXTS_TIMEOUT))
    ends = {process: end for process, end in meeting.ends().items() if process in absent}
    found = missing_processes(number, arrivals, absent, ends, meeting.waited)
    return found if absent or agree(arrivals.values()) else differing_programs(number, arrivals, {})


class _Notes:
    """Says on stderr that a process waits: after some seconds, then after twice as many."""

    def __init__(self, arrival: Arrival) -> None:
        self._arrival, self._next = arrival, _FIRST_NOTE

    def waiting(self, seconds: float, absent: Group) -> None:
        if seconds >= self._next:
            self._next *= 2
            note(preflight_wording.waiting(seconds, absent, self._arrival))


def note(text: str) -> None:
    """A line on stderr, which a closed one does not stop."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def _ends_well(error: BaseException | None) -> bool:
    return error is None or (isinstance(error, SystemExit) and error.code in (None, 0))


def _first_line(error: BaseException | None) -> str:
    """The type and the first line of how the user's block ended; the type alone where its `__str__` raises."""
    if error is None:
        return ""
    line = ""
    with contextlib.suppress(Exception):
        line = str(error).strip().partition("\n")[0][:200]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def default_folder() -> Path:
    """Where reports are written to: JAXSTAGE_PREFLIGHT_REPORT, or the working folder."""
    return Path(os.environ.get("JAXSTAGE_PREFLIGHT_REPORT") or ".")
