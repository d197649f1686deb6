"""Ctrl-C at any moment, once or five times within 25 ms: the next look answers rightly, and nothing is left behind."""

from __future__ import annotations

import itertools
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import jax
import numpy as np
import pytest
from attack import Attack
from interrupts import interrupt
from jax._src import compiler, stages

from jaxstage_ext.api.inspect import inspect
from jaxstage_ext.core.call import Call
from jaxstage_ext.notebook import staging
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.showing import display
from jaxstage_ext.worker import pool
from jaxstage_ext.worker.process import Worker

X = np.ones(8, np.float32)
numbers = itertools.count(1001)


class Looks:
    """One look of each kind, at a program that no other look has seen; each returns the text of its HLO."""

    def __init__(self) -> None:
        self.number = next(numbers)
        self.function: Any = lambda x: x * float(self.number)

    def by_inspect(self) -> str:
        return str(inspect(self.function, X).documents["hlo"].text)

    def by_jitted_lowering(self) -> str:
        """Through an object that has `.lower` alone, as pmap and wrappers of libraries."""
        jitted = jax.jit(self.function)

        class OnlyLowers:
            lower = staticmethod(jitted.lower)

            def __call__(self, x: Any) -> Any:
                return jitted(x)

        return str(inspect(OnlyLowers(), X).documents["hlo"].text)

    def by_magic(self) -> str:
        [inspection], failure = staging.stage(None, [Call(self.function, (X,))], "compile", quiet=False)
        if failure is not None:
            raise failure
        return str(inspection.documents["hlo"].text)

    def by_request(self) -> str:
        """A request between two cells, on the main thread; its reply is kept, whatever it is."""
        inspection = inspect(self.function, X)
        request = {"id": 1, "method": "document", "params": {"call": 0, "doc": "hlo"}}
        reply, _ = dispatch.reply([inspection.program], request)
        if "error" in reply:
            assert reply["error"]["message"] == "Interrupted."
            raise KeyboardInterrupt
        return str(inspection.documents["hlo"].text)

    def by_worker(self) -> str:
        return str(inspect(self.function, X, target="cpu:1").documents["hlo"].text)


HERE = (Looks.by_inspect, Looks.by_jitted_lowering, Looks.by_magic, Looks.by_magic, Looks.by_request)
Look = Callable[[Looks], str]


def took(look: Look) -> float:
    began = time.perf_counter()
    look(Looks())
    return time.perf_counter() - began


def looked(look: Callable[[], object]) -> None:
    look()


def raised_in_a_look(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, as Python does, but not in what runs the tests, which it would end."""
    while frame is not None:
        if frame.f_code is looked.__code__:
            raise KeyboardInterrupt
        frame = frame.f_back


@pytest.fixture
def only_looks_are_interrupted() -> Iterator[None]:
    former = signal.signal(signal.SIGINT, raised_in_a_look)
    yield
    signal.signal(signal.SIGINT, former)


def interrupted(look: Callable[[], object], after: float, times: int) -> str:
    """How a look ended that was interrupted so many times, 5 ms apart, beginning `after` so many seconds."""

    def send() -> None:
        time.sleep(after)
        for _ in range(times):
            interrupt()
            time.sleep(0.005)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        looked(look)
        outcome = "done before"
    except KeyboardInterrupt:
        outcome = "interrupted"
    thread.join()
    return outcome


@pytest.fixture
def panels(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The panels that are made, as in a notebook."""
    made: list[Any] = []
    make = display._open_panel

    def remembered(*args: Any) -> Any:
        opened = make(*args)
        assert opened is not None
        made.append(opened.panel)
        return opened

    monkeypatch.setattr(display, "in_notebook", lambda: True)
    monkeypatch.setattr(display, "_open_panel", remembered)
    monkeypatch.setattr(display, "_publish", lambda data, display_id, update: None)
    yield made
    for panel in made:
        panel.close()


def check_nothing_is_left(panels: list[Any]) -> None:
    for panel in panels:
        assert not panel.state["busy"]
        assert not [s for call in panel.state["calls"] for s in call["stages"] if s["state"] == "running"]
        panel.close()
    panels.clear()
    assert signal.getsignal(signal.SIGINT) is raised_in_a_look
    assert stages.Traced.lower.__module__ == "jax._src.stages", "JAX's own method is back"


def attempt(look: Look, rng: random.Random, seconds: float, panels: list[Any]) -> str:
    looks = Looks()
    outcome = interrupted(lambda: look(looks), rng.uniform(0, 1.2 * seconds), rng.choice((1, 1, 5)))
    check_nothing_is_left(panels)
    again = look(looks)
    assert f"constant({looks.number})" in again, "the right answer afterwards"
    check_nothing_is_left(panels)
    return outcome


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python drops an interrupt that comes in a weak reference's callback, for which pytest's hook is not made."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


@pytest.mark.usefixtures("dropped", "only_looks_are_interrupted")
@pytest.mark.timeout(600)
def test_looks_in_this_process(request: pytest.FixtureRequest, panels: list[Any]) -> None:
    original = compiler.compile_or_get_cached
    seconds = {look: min(took(look) for _ in range(2)) for look in HERE}
    attack = Attack("interrupted looks", attempts=460, in_ci=30, request=request)
    for rng in attack:
        look = rng.choice(HERE)
        attack.ended(f"{look.__name__.removeprefix('by_')} {attempt(look, rng, seconds[look], panels)}")
    assert compiler.compile_or_get_cached is original


@pytest.mark.usefixtures("dropped", "only_looks_are_interrupted")
@pytest.mark.timeout(600)
def test_compiles_in_the_worker(request: pytest.FixtureRequest, workers_of_our_own: Path) -> None:
    psutil = pytest.importorskip("psutil")
    seconds = min(took(Looks.by_worker) for _ in range(3))
    attack = Attack("interrupted worker compiles", attempts=40, in_ci=6, request=request)
    for rng in attack:
        attack.ended(attempt(Looks.by_worker, rng, seconds, []))
        workers = [child.pid for child in psutil.Process().children() if "serve.py" in " ".join(child.cmdline())]
        assert workers == list(pool.running().values()), "no orphan"
        assert len(list(workers_of_our_own.glob("jaxstage-*"))) == 1, "the folder of the worker alone"


def test_an_interrupt_of_the_end_of_a_worker_does_not_leave_its_answer_to_the_next_request(
    monkeypatch: pytest.MonkeyPatch, workers_of_our_own: Path
) -> None:
    """The second Ctrl-C comes before the worker is killed; its answer to the first request is still in the pipe."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Worker, "_check_memory", interrupt)  # while the worker starts and compiles
        patched.setattr(Worker, "kill", interrupt)
        with pytest.raises(KeyboardInterrupt):
            Looks().by_worker()
    looks = Looks()
    assert f"constant({looks.number})" in looks.by_worker()
