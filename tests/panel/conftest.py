"""A kernel that only takes notes of what it publishes."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from jaxstage_ext.panel import assets
from jaxstage_ext.panel.showing import display
from jaxstage_ext.panel.showing.display import WIDGET_VIEW


class Notebook:
    """What the kernel published, and the cell that runs."""

    def __init__(self):
        self.messages = []
        self.kernel = SimpleNamespace(get_parent=lambda channel: self.parent)
        self.run("cell-1")

    def run(self, cell, deleted=()):
        metadata = {"deletedCells": list(deleted)} | ({"cellId": cell} if cell else {})
        self.parent = {"metadata": metadata, "header": {"msg_id": f"run-{time.perf_counter_ns()}"}}

    def publish(self, data, display_id, update):
        self.messages.append((data, display_id, update))

    @property
    def kinds(self):
        return [
            ("update" if update else "new", WIDGET_VIEW in data, "text/html" in data)
            for data, _, update in self.messages
        ]


class Timer:
    """In place of `threading.Timer`: rings when the clock says so."""

    def __init__(self, seconds, function, args=(), kwargs=None):
        self.seconds, self.waits = seconds, False
        self._ring = lambda: function(*args, **(kwargs or {}))

    def start(self):
        self.waits = True

    def cancel(self):
        self.waits = False

    def ring(self):
        self.waits = False
        self._ring()


class Clock:
    """The timers of a test, whose time passes only when it says so."""

    def __init__(self):
        self.timers = []

    def timer(self, *args, **kwargs):
        self.timers.append(Timer(*args, **kwargs))
        return self.timers[-1]

    def passes(self, seconds):
        """So much time: whoever waits no longer than that is rung."""
        for timer in [timer for timer in self.timers if timer.waits and timer.seconds <= seconds]:
            timer.ring()


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(threading, "Timer", made.timer)
    return made


@pytest.fixture
def notebook(tmp_path, monkeypatch, clock):
    (tmp_path / "stub.js").write_text("export default {}")
    (tmp_path / "panel.css").write_text(".x {}")
    made = Notebook()
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    monkeypatch.setattr(display, "_shell", lambda: made)
    monkeypatch.setattr(display, "_publish", made.publish)
    monkeypatch.setattr(display, "_open", type(display._open)())
    yield made
    for view in display._open.values():
        view.panel.close()
