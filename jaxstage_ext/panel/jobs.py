"""Looks that take long, as jobs: the request's thread is free at once, and the front end asks again until it is done.

A job runs in a daemon thread and touches no widget, so that one whose panel is closed harms nothing. Its answer is
kept until it is fetched, or as long as its Inspection lives; the looks keep their own results.
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
from jaxstage_ext.panel.params import Answer, BadRequest, Params, Programs

GRACE = 0.05
"""Seconds that the first request waits: what was looked at before is answered at once."""
MOST = 4
"""Looks of one Inspection that may run at the same time."""


class Stopped(Exception):
    """The user has stopped this look."""


class Progress:
    """What a running look tells of itself, and how it hears that it is to stop."""

    def __init__(self) -> None:
        self.text: str | None = None
        self._stopped = False
        self._stops: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def __call__(self, text: str | None) -> None:
        """Show this text beside the time that has passed. Raises Stopped once the look is to stop."""
        self.text = text
        self.check()

    def heard(self, seconds: float, text: str | None = None) -> None:
        """As `progress=` of `worker.ask`: its raising Stopped ends the request and the worker with it."""
        self(text)

    def check(self) -> None:
        """Raise Stopped once the look is to stop."""
        if self._stopped:
            raise Stopped

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Have `stop` called, on another thread, when the look is to stop; at once if that was before."""
        with self._lock:
            if not self._stopped:
                self._stops.append(stop)
                return
        stop()

    def stop(self) -> None:
        """Ask the look to stop."""
        with self._lock:
            self._stopped, stops = True, self._stops
            self._stops = []
        for stop in stops:
            with contextlib.suppress(Exception):
                stop()


Look = Callable[[Programs, Params, Progress], Answer]


class Job:
    """One look on its way."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.started = time.monotonic()
        self.done = threading.Event()
        self.answer: Answer | None = None
        self.failure = ""

    def run(self, look: Look, programs: Programs, params: Params) -> None:
        try:
            self.answer = look(programs, params, self.progress)
        except BaseException as error:  # kept as text: its traceback would keep the Inspection alive
            self.failure = "stopped" if isinstance(error, Stopped) else given.one_line(error)
        finally:
            self.done.set()

    def pending(self) -> Answer:
        return {"pending": {"elapsed": time.monotonic() - self.started, "progress": self.progress.text}}, []


_jobs: weakref.WeakKeyDictionary[Any, dict[tuple[Look, str], Job]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


class Slow:
    """A wire method over a look: its answer, or that it is pending."""

    def __init__(self, look: Look) -> None:
        self._look = look

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
        if job.answer is None:
            raise BadRequest(job.failure)
        return job.answer

    def _start(self, running: dict[tuple[Look, str], Job], key: tuple[Look, str], *asked: Any) -> Job:
        if sum(not job.done.is_set() for job in running.values()) >= MOST:
            raise BadRequest(f"{MOST} looks at this call are under way; wait for one of them, or stop it")
        job = running[key] = Job()
        programs, params = asked
        threading.Thread(
            target=job.run, args=(self._look, tuple(programs), dict(params)), name="jaxstage look", daemon=True
        ).start()
        return job

    def stop(self, programs: Programs, params: Params) -> bool:
        """Stop the look that a request of these parameters has begun; whether there was one."""
        program, key = self._place(programs, params)
        with _lock:
            job = _jobs.get(program, {}).pop(key, None)
        if job is not None:
            job.progress.stop()
        return job is not None

    def _place(self, programs: Programs, params: Params) -> tuple[Any, tuple[Look, str]]:
        return given.program(programs, params), (self._look, json.dumps(params, sort_keys=True))


def slow(look: Look) -> Slow:
    """The wire method of a look `(programs, params, progress) -> Answer` that may take long.

    The first request begins it in a thread. It and the next ones are answered with
    `{"pending": {"elapsed": seconds, "progress": str | None}}`, and once it is done with its answer, once, or with
    its error in one line; the request after that begins anew. One job runs for each (Inspection, look, parameters).
    """
    return Slow(look)


def stop_all(programs: Programs) -> None:
    """Stop what runs for these Programs, whose panel is closed."""
    with _lock:
        jobs = [job for program in programs for job in _jobs.pop(program, {}).values()]
    for job in jobs:
        job.progress.stop()
