"""A kernel that only takes notes of what it publishes."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from jaxstage_ext.panel import assets, display
from jaxstage_ext.panel.display import WIDGET_VIEW


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


@pytest.fixture
def notebook(tmp_path, monkeypatch):
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
