"""Showing in notebooks and terminals, with a kernel that only takes notes."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import weakref
from types import SimpleNamespace

import fakes
import ipywidgets
import pytest

from jaxstage_ext.panel import assets, display, jobs
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


def live():
    return len(ipywidgets.widgets.widget._instances)


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    (tmp_path / "panel.js").write_text("export default {}")
    (tmp_path / "panel.css").write_text(".x {}")
    made = Notebook()
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    monkeypatch.setattr(display, "_shell", lambda: made)
    monkeypatch.setattr(display, "_publish", made.publish)
    monkeypatch.setattr(display, "_open", type(display._open)())
    yield made
    for view in display._open.values():
        view.panel.close()


def wait_for(condition):
    until = time.monotonic() + 5
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    assert condition()


def test_what_is_done_at_once_is_one_message_and_final(notebook):
    shown = display.show([fakes.program()])
    shown.refresh([fakes.program()])
    shown.finish([fakes.program()])
    time.sleep(display.PATIENCE * 1.5)
    assert notebook.kinds == [("new", True, True)]


def test_what_takes_longer_shows_at_once_and_is_replaced_by_the_final_form(notebook):
    made = [fakes.program()]
    shown = display.Shown(made, patience=0.001)
    wait_for(lambda: notebook.messages)
    assert shown._panel.state["busy"] is True
    shown.finish(made)
    assert notebook.kinds == [("new", True, False), ("update", True, True)]
    (first, first_id, _), (last, last_id, _) = notebook.messages
    assert first_id == last_id
    assert first[WIDGET_VIEW] == last[WIDGET_VIEW]
    assert shown._panel.state["busy"] is False


def test_the_panel_fills_in_stage_by_stage(notebook):
    made = fakes.program(head={"coverage": None})
    shown = display.show([made])
    made.head = {"coverage": {"direct": 1, "inferred": 0, "total": 1}}
    shown.refresh([made])
    assert shown._panel.state["calls"][0]["coverage"]["direct"] == 1
    assert shown._panel.state["busy"] is True


def test_panels_show_again_what_their_inspections_hold_now(notebook):
    made, other = fakes.program(head={"error": None}), fakes.program()
    shown = display.show([made])
    shown.finish([made])
    made.head = {"error": {"stage": "run", "type": "E", "message": "RESOURCE_EXHAUSTED", "interrupted": False}}
    assert display.refresh_shown([made])
    assert shown._panel.state["calls"][0]["error"]["stage"] == "run"
    assert notebook.kinds == [("new", True, True), ("update", True, True)]
    (first, first_id, _), (last, last_id, _) = notebook.messages
    assert first_id == last_id and "run failed" in last["text/plain"] and "run failed" not in first["text/plain"]
    assert not display.refresh_shown([other])


def test_a_cell_run_200_times_leaves_one_panel(notebook):
    before, held = live(), []
    for _ in range(200):
        notebook.run("cell-1")
        made = fakes.program()
        held.append(weakref.ref(made))
        display.show([made]).finish([made])
    assert live() - before <= 2
    assert len(display._open) == 1
    del made
    gc.collect()
    assert sum(ref() is not None for ref in held) == 1
    assert threading.active_count() < 20


def test_two_panels_of_one_run_and_other_cells_stay(notebook):
    for cell in ("cell-1", "cell-2"):
        notebook.run(cell)
        display.show([fakes.program()])
        display.show([fakes.program()])
    assert len(display._open) == 4
    notebook.run("cell-1")
    display.show([fakes.program()])
    assert sorted(view.cell for view in display._open.values()) == ["cell-1", "cell-2", "cell-2"]


def test_a_panel_that_is_replaced_stops_what_it_waits_for(notebook, monkeypatch):
    stopped = []
    monkeypatch.setattr(jobs, "stop_all", stopped.extend)
    first, second = fakes.program(), fakes.program()
    display.show([first])
    assert stopped == []
    notebook.run("cell-1")
    display.show([second])
    assert stopped == [first]


def test_a_deleted_cell_loses_its_panel(notebook):
    display.show([fakes.program()])
    notebook.run("cell-2", deleted=["cell-1"])
    display.show([fakes.program()])
    assert [view.cell for view in display._open.values()] == ["cell-2"]


@pytest.mark.parametrize("cell", ["cell", None])
def test_the_oldest_panels_turn_static(notebook, cell):
    before = live()
    for i in range(display.MOST_PANELS + 3):
        notebook.run(cell and f"{cell}-{i}")
        display.show([fakes.program()]).finish([fakes.program()])
    frozen = [(data, name) for data, name, update in notebook.messages if update and WIDGET_VIEW not in data]
    assert len(display._open) == display.MOST_PANELS
    assert [sorted(data) for data, _ in frozen] == [["text/html", "text/plain"]] * 3
    assert [name for _, name in frozen] == list(dict.fromkeys(name for _, name, _ in notebook.messages))[:3]
    assert live() - before <= 2 * display.MOST_PANELS


def test_when_the_extension_is_unloaded_every_panel_turns_static(notebook):
    before = live()
    for cell in ("cell-1", "cell-2"):
        notebook.run(cell)
        display.show([fakes.program()]).finish([fakes.program()])
    display.freeze_all()
    assert notebook.kinds == [("new", True, True)] * 2 + [("update", False, True)] * 2
    assert not display._open
    assert live() == before


def test_a_panel_that_cannot_turn_static_does_not_keep_the_others_open(notebook, monkeypatch):
    before = live()
    for cell in ("cell-1", "cell-2"):
        notebook.run(cell)
        display.show([fakes.program()])
    monkeypatch.setattr(display, "static_bundle", lambda programs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        display.freeze_all()
    assert not display._open
    assert live() == before


def test_bundle_in_a_notebook_has_all_forms(notebook):
    assert list(display.bundle([fakes.program()])) == [WIDGET_VIEW, "text/html", "text/plain"]
    assert len(display._open) == 1


def test_bundle_elsewhere_is_static(notebook, monkeypatch):
    monkeypatch.setattr(display, "_shell", lambda: SimpleNamespace())
    before = live()
    assert list(display.bundle([fakes.program()])) == ["text/html", "text/plain"]
    assert live() == before


def test_a_terminal_gets_the_text_at_the_end(monkeypatch, capsys):
    monkeypatch.setattr(display, "_shell", lambda: None)
    monkeypatch.setenv("COLUMNS", "80")
    shown = display.show([fakes.program()])
    shown.refresh([fakes.program()])
    assert capsys.readouterr().out == ""
    shown.finish([fakes.program()])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("┌ loss(w:")
    assert {len(line) for line in lines} == {80}


def test_without_a_built_front_end_the_static_form_is_shown(notebook, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(assets, "STATIC", tmp_path / "nowhere")
    display.show([fakes.program()]).finish([fakes.program()])
    assert notebook.kinds == [("new", False, True)]
    said = capsys.readouterr().err
    assert "npm ci && npm run build" in said
    assert said.count("\n") == 1


def messages_to(panel):
    sent = []
    panel.send = lambda content, buffers=None: sent.append((content, buffers))
    return sent


def test_panel_answers_requests_and_only_those(notebook):
    panel = display.show([fakes.program()])._panel
    sent = messages_to(panel)
    ask = panel._handle_custom_msg
    ask({"kind": "request", "id": 1, "method": "document", "params": {"call": 0, "doc": "hlo"}}, [])
    ask({"kind": "request", "id": 2, "method": "nonsense"}, [])
    ask({"kind": "other"}, [])
    ask("hello", [])
    assert [(m["kind"], m["id"], "error" in m, len(b)) for m, b in sent] == [
        ("reply", 1, False, 1),
        ("reply", 2, True, 0),
    ]


def test_panel_answers_from_several_threads(notebook):
    panel = display.show([fakes.program()])._panel
    sent = messages_to(panel)
    params = {"call": 0, "doc": "hlo", "query": "tanh"}
    threads = [
        threading.Thread(
            target=panel._handle_custom_msg,
            args=({"kind": "request", "id": i, "method": "search", "params": params}, []),
        )
        for i in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(m["id"] for m, _ in sent) == list(range(20))
    assert {m["result"]["total"] for m, _ in sent} == {4}


def test_a_closed_panel_lets_go_of_everything(notebook):
    made = fakes.program()
    gone, before = weakref.ref(made), live()
    shown = display.Shown([made], patience=100)
    panel = shown._panel
    display._open.clear()
    panel.close()
    panel.refresh([made])
    panel.close()
    del made
    gc.collect()
    assert gone() is None
    assert live() == before
    shown._timer.cancel()


def test_views_import_neither_jax_nor_widgets_until_needed():
    code = "import sys; from jaxstage_ext.panel import display, page; print({'jax', 'ipywidgets'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
