"""Slow requests as jobs: the request's thread is free at once, and the front end polls until the job is done.

A job runs in a daemon thread and touches no widget, so closing its panel does no harm. Its answer is kept until it is
fetched or its Program is gone; analyses keep their own results.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, ErrorKind, Method, Params, Programs

GRACE = 0.05
"""Seconds that a request waits for its job: what is already known is answered at once."""
PATIENCE = 2.0
"""Seconds that `end_all` waits."""
MOST, MOST_KEPT = 4, 32
"""Jobs of one Program that may run at the same time, and that wait to be fetched."""
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

    def stop(self) -> None:
        """Ask the job to stop."""
        with self._lock:
            self._stopped, stops = True, self._stops
            self._stops = []
        for stop in stops:
            with contextlib.suppress(Exception):
                stop()


SlowAnswer = Callable[[Programs, Params, JobProgress], Answer]


class Job:
    """One slow request under way."""

    def __init__(self) -> None:
        self.progress = JobProgress()
        self.started = time.monotonic()
        self.done = threading.Event()
        self.answer: Answer | None = None
        self.failure: BadRequest | None = None
        self.thread: threading.Thread | None = None

    def run(self, compute: SlowAnswer, programs: Programs, params: Params) -> None:
        try:
            self.answer = compute(programs, params, self.progress)
        except Stopped:
            self.failure = BadRequest(STOPPED, ErrorKind.STOPPED)
        except BaseException as error:  # without its traceback, which would keep the Program alive
            failure = given.failure(error)
            self.failure = BadRequest(str(failure), failure.kind, failure.has_log)
        finally:
            self.done.set()

    def pending(self) -> Answer:
        return {"pending": {"elapsed": time.monotonic() - self.started, "progress": self.progress.text}}, []


_jobs: weakref.WeakKeyDictionary[Any, dict[tuple[SlowAnswer, str], Job]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


class Slow:
    """A wire method that runs a slow one as a job: its answer, or that it is pending."""

    def __init__(self, compute: SlowAnswer) -> None:
        self.compute = compute

    def __call__(self, programs: Programs, params: Params) -> Answer:
        program, key = self._place(programs, params)
        with _lock:
            running = _jobs.setdefault(program, {})
            job = running.get(key) or self._start(running, key, programs, params)
        if not job.done.wait(GRACE):
            return job.pending()
        with _lock:
            if running.get(key) is job:
                del running[key]
        if job.failure is not None:
            raise job.failure
        assert job.answer is not None
        return job.answer

    def _start(self, running: dict[tuple[SlowAnswer, str], Job], key: tuple[SlowAnswer, str], *asked: Any) -> Job:
        if sum(not job.done.is_set() for job in running.values()) >= MOST:
            raise BadRequest(f"Waiting for {MOST} running analyses…", ErrorKind.BUSY)
        for forgotten in [done for done, job in running.items() if job.done.is_set()][:-MOST_KEPT]:
            del running[forgotten]
        job = Job()
        programs, params = asked
        job.thread = threading.Thread(
            target=job.run, args=(self.compute, tuple(programs), dict(params)), name="jaxstage job", daemon=True
        )
        job.thread.start()
        running[key] = job
        return job

    def stop(self, programs: Programs, params: Params) -> bool:
        """Stop the job that a request with these parameters began; whether there was one."""
        program, key = self._place(programs, params)
        with _lock:
            job = _jobs.get(program, {}).pop(key, None)
        if job is not None:
            job.progress.stop()
        return job is not None

    def _place(self, programs: Programs, params: Params) -> tuple[Any, tuple[SlowAnswer, str]]:
        return given.program(programs, params), (self.compute, json.dumps(params, sort_keys=True))


def slow(compute: SlowAnswer) -> Slow:
    """The wire method of a slow function `(programs, params, progress) -> Answer`.

    The first request starts it in a thread. Requests are answered with
    `{"pending": {"elapsed": seconds, "progress": str | None}}` until it is done, then once with its answer or error;
    the next request starts it again. There is one job per (Program, function, parameters).
    """
    return Slow(compute)


def answered_at_once(method: Method, programs: Programs, params: Params) -> Answer:
    """What a request about the first of these Programs answers, computed in this thread also where it is slow.

    Raises what the method raises.
    """
    asked = {"call": 0, **params}
    return method.compute(programs, asked, JobProgress()) if isinstance(method, Slow) else method(programs, asked)


def stop_all(programs: Programs) -> None:
    """Stop the jobs of these Programs, whose panel is closed."""
    with _lock:
        jobs = [job for program in programs for job in _jobs.pop(program, {}).values()]
    for job in jobs:
        job.progress.stop()


def end_all() -> None:
    """Stop every job, and wait a moment for their threads."""
    with _lock:
        jobs = [job for running in _jobs.values() for job in running.values()]
        _jobs.clear()
    for job in jobs:
        job.progress.stop()
    until = time.monotonic() + PATIENCE
    for job in jobs:
        if job.thread is not None:
            job.thread.join(max(0.0, until - time.monotonic()))
