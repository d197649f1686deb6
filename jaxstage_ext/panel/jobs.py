"""Slow requests as jobs: the request's thread is free at once, and the front end polls until the job is done.

A job runs in a daemon thread and touches no widget, so closing its panel does no harm. Its answer is kept until it is
fetched or its Program is gone; analyses keep their own results.
"""

from __future__ import annotations

import contextlib
import contextvars
import json
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, ErrorKind, Method, Params, Programs
from jaxstage_ext.report import measuring
from jaxstage_ext.report.text.units import plural

GRACE = 0.05
"""Seconds that a request waits for its job: what is already known is answered at once."""
PATIENCE = 2.0
"""Seconds that `end_all` waits."""
MOST, MOST_QUEUED, MOST_KEPT = 4, 200, 32
"""Jobs of one Program that may run at the same time, that wait for one of these to end, and that wait to be fetched."""
STOPPED = "Stopped."


class Stopped(Exception):
    """The user stopped this job."""


class JobProgress:
    """How a running job reports its progress and learns that it should stop."""

    def __init__(self) -> None:
        self.text: str | None = None
        self._stopped = False
        self._stops: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def __call__(self, text: str | None) -> None:
        """Show this text beside the elapsed time. Raises Stopped once the job should stop."""
        self.text = text
        self.check()

    def heard(self, seconds: float, text: str | None = None) -> None:
        """A `report.progress.Progress`; raising Stopped, it ends the worker's request and the worker."""
        self(text)

    def check(self) -> None:
        """Raise Stopped once the job should stop."""
        if self._stopped:
            raise Stopped

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Call `stop`, on another thread, when the job should stop; at once if it should already."""
        with self._lock:
            if not self._stopped:
                self._stops.append(stop)
                return
        stop()

    @property
    def is_stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        """Ask the job to stop."""
        with self._lock:
            self._stopped, stops = True, self._stops
            self._stops = []
        for stop in stops:
            with contextlib.suppress(Exception):
                stop()


SlowAnswer = Callable[[Programs, Params, JobProgress], Answer]


Key = tuple[SlowAnswer, tuple[int, ...], str]
"""What a job computes, of which panel where that matters, with which parameters."""


class Job:
    """One slow request: in the queue, running, or done.

    Attributes:
      askers: the pages that wait for its answer.
    """

    def __init__(self, compute: SlowAnswer, programs: Programs, params: Params) -> None:
        self.progress = JobProgress()
        self.asked_at = time.monotonic()
        self.askers: set[object] = set()
        self.done = threading.Event()
        self.answer: Answer | None = None
        self.failure: BadRequest | None = None
        self.thread: threading.Thread | None = None
        self._work: tuple[SlowAnswer, Programs, Params] | None = (compute, tuple(programs), dict(params))

    @property
    def is_running(self) -> bool:
        return self.thread is not None and not self.done.is_set()

    @property
    def is_queued(self) -> bool:
        return self.thread is None and not self.progress.is_stopped

    def start(self, asked: dict[Key, Job]) -> None:
        """Run it in a thread, which starts the next of the queue at its end. Raises RuntimeError where none starts."""
        assert self._work is not None
        work = (*self._work, asked)
        thread = threading.Thread(target=self._run, args=work, name="jaxstage job", daemon=True)
        thread.start()
        self.thread, self._work = thread, None

    def _run(self, compute: SlowAnswer, programs: Programs, params: Params, asked: dict[Key, Job]) -> None:
        try:
            self.answer = compute(programs, params, self.progress)
        except Stopped:
            self.failure = BadRequest(STOPPED, ErrorKind.STOPPED)
        except BaseException as error:  # without its traceback, which would keep the Program alive
            failure = given.failure(error)
            self.failure = BadRequest(str(failure), failure.kind, failure.has_log)
        finally:
            self.done.set()
            with _lock, contextlib.suppress(RuntimeError):  # the next request about them starts them
                _start_queued(asked)

    def pending(self, ahead: int) -> Answer:
        """That it is not done, since when it waits, and what it is at, or how many are ahead of it in the queue."""
        behind = f"behind {plural(ahead, 'other')} " if ahead else ""
        waiting = f"queued {behind}(at most {MOST} analyses run at once)" if self.is_queued else None
        return {"pending": {"elapsed": time.monotonic() - self.asked_at, "progress": waiting or self.progress.text}}, []


_jobs: weakref.WeakKeyDictionary[Any, dict[Key, Job]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()
asker: contextvars.ContextVar[object] = contextvars.ContextVar("asker", default=None)
"""The page that a request comes from. A job goes on as long as one of those that asked for it waits."""


def _start_queued(asked: dict[Key, Job]) -> None:
    """Start what is queued, oldest first, as far as there is room."""
    room = MOST - sum(job.is_running for job in asked.values())
    for job in [job for job in asked.values() if job.is_queued][: max(0, room)]:
        job.start(asked)


class Slow:
    """A wire method that runs a slow one as a job: its answer, or that it is pending."""

    def __init__(self, compute: SlowAnswer, of_panel: bool) -> None:
        self.compute, self.of_panel = compute, of_panel

    def __call__(self, programs: Programs, params: Params) -> Answer:
        (program, key), who = self._place(programs, params), asker.get()
        with _lock:
            asked = _jobs.setdefault(program, {})
            job = asked.get(key)
            if job is None or (job.done.is_set() and who not in job.askers):
                job = self._begin(asked, key, Job(self.compute, programs, params))
            job.askers.add(who)
            _start_queued(asked)
        if not job.done.wait(GRACE):
            with _lock:
                queue = [other for other in asked.values() if other.is_queued]
            return job.pending(queue.index(job) if job in queue else 0)
        with _lock:
            job.askers.discard(who)
            if not job.askers and asked.get(key) is job:
                del asked[key]
        if job.failure is not None and job.failure.kind is ErrorKind.ABSENT and (under_way := program.under_way):
            return {"pending": {"elapsed": program.elapsed or 0.0, "progress": under_way}}, []
        if job.failure is not None:
            raise job.failure
        assert job.answer is not None
        return job.answer

    def _begin(self, asked: dict[Key, Job], key: Key, job: Job) -> Job:
        if sum(not other.done.is_set() for other in asked.values()) >= MOST + MOST_QUEUED:
            full = f"{MOST + MOST_QUEUED} analyses of this call are already queued; try again later"
            raise BadRequest(full, ErrorKind.BUSY)
        for forgotten in [done for done, other in asked.items() if other.done.is_set()][:-MOST_KEPT]:
            del asked[forgotten]
        asked.pop(key, None)  # so that it comes last
        asked[key] = job
        return job

    def stop(self, programs: Programs, params: Params) -> bool:
        """Stop the job that a request with these parameters began; whether there was one.

        Where another page waits for it too, it goes on for that.
        """
        program, key = self._place(programs, params)
        with _lock:
            asked = _jobs.get(program, {})
            job = asked.get(key)
            if job is None:
                return False
            job.askers.discard(asker.get())
            if job.askers:
                return True
            del asked[key]
            _start_queued(asked)
        job.progress.stop()
        return True

    def _place(self, programs: Programs, params: Params) -> tuple[Any, Key]:
        """The Program and the job's key, which is the same in every panel unless the job is of one panel."""
        program = given.program(programs, params)
        which = {name: value for name, value in params.items() if self.of_panel or name != "call"}
        panel = tuple(map(id, programs)) if self.of_panel else ()
        return program, (self.compute, panel, json.dumps(which, sort_keys=True))


def slow(compute: SlowAnswer, of_panel: bool = False) -> Slow:
    """The wire method of a slow function `(programs, params, progress) -> Answer`.

    The first request starts it in a thread. Requests are answered with
    `{"pending": {"elapsed": seconds, "progress": str | None}}` until it is done, then once with its answer or error;
    the next request starts it again. There is one job per (Program, function, parameters), whichever panels ask for it;
    `of_panel` where the answer depends on what else the panel shows. At most `MOST` jobs of a Program run at the same
    time; the others wait in a queue, and say so.
    """
    return Slow(compute, of_panel)


def answered_at_once(method: Method, programs: Programs, params: Params) -> Answer:
    """What a request about the first of these Programs answers, computed in this thread also where it is slow.

    It is for saving, so this machine is not measured for it. Raises what the method raises.
    """
    asked = {"call": 0, **params}
    with measuring.left_alone():
        return method.compute(programs, asked, JobProgress()) if isinstance(method, Slow) else method(programs, asked)


def stop_all(programs: Programs) -> None:
    """Stop the jobs of these Programs, whose panel is closed."""
    with _lock:
        jobs = [job for program in programs for job in _taken(_jobs.pop(program, {}))]
    for job in jobs:
        job.progress.stop()


def end_all() -> None:
    """Stop every job, and wait a moment for their threads."""
    with _lock:
        jobs = [job for asked in _jobs.values() for job in _taken(asked)]
        _jobs.clear()
    for job in jobs:
        job.progress.stop()
    until = time.monotonic() + PATIENCE
    for job in jobs:
        if job.thread is not None:
            job.thread.join(max(0.0, until - time.monotonic()))


def _taken(asked: dict[Key, Job]) -> list[Job]:
    """All jobs, taken out of the queue: the first that ends would start the next before that is stopped too."""
    jobs = list(asked.values())
    asked.clear()
    return jobs
