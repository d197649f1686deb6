"""Showing in notebooks and terminals, with a kernel that only takes notes."""

from __future__ import annotations

import base64
import gc
import gzip
import subprocess
import sys
import threading
import weakref
from types import SimpleNamespace

import fakes
import ipywidgets
import pytest

from jaxstage_ext.panel import assets
from jaxstage_ext.panel.saving import later_saving
from jaxstage_ext.panel.saving.saved_output import MIME_TYPE
from jaxstage_ext.panel.showing import display
from jaxstage_ext.panel.showing.display import WIDGET_VIEW


def live():
    return len(ipywidgets.widgets.widget._instances)


def test_what_is_done_at_once_is_one_message_and_final(notebook, clock):
    shown = display.show([fakes.program()])
    shown.refresh([fakes.program()])
    shown.finish([fakes.program()])
    clock.passes(display.PATIENCE)
    assert notebook.kinds == [("new", True, True)]


def test_what_takes_longer_shows_at_once_and_is_replaced_by_the_final_form(notebook, clock):
    made = [fakes.program()]
    shown = display.show(made)
    assert not notebook.messages
    clock.passes(display.PATIENCE)
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
    display.end_cell()
    assert sorted(view.cell for view in display._open.values()) == ["cell-1", "cell-2", "cell-2"]


def models():
    return [view.panel.model_id for view in display._open.values()]


def test_a_cell_that_runs_again_keeps_its_models_by_their_order_in_it(notebook):
    first, second = (display.show([fakes.program()])._panel for _ in range(2))
    runs = [panel.state["run"] for panel in (first, second)]
    notebook.run("cell-1")
    made = fakes.program(head={"name": "other"})
    shown = display.show([made])
    shown.finish([made])
    assert shown._panel is first
    assert first.state["calls"][0]["name"] == "other" and first.state["busy"] is False
    assert first.state["run"] not in runs
    assert notebook.messages[-1][1:] == (shown._display_id, False), "its display is a new one"
    assert models() == [second.model_id, first.model_id]
    display.end_cell()
    assert models() == [first.model_id] and second.comm is None


def test_a_cell_that_shows_nothing_any_more_closes_its_panels_when_it_ends(notebook):
    panel = display.show([fakes.program()])._panel
    notebook.run(None)
    display.end_cell()
    notebook.run("cell-1")
    assert panel.comm is not None
    display.end_cell()
    assert panel.comm is None and not display._open


def test_without_the_extension_s_events_the_rest_goes_when_another_cell_shows_a_panel(notebook):
    kept, closed = (display.show([fakes.program()])._panel for _ in range(2))
    notebook.run("cell-1")
    display.show([fakes.program()])
    notebook.run("cell-2")
    other = display.show([fakes.program()])._panel
    assert models() == [kept.model_id, other.model_id] and closed.comm is None


def test_a_cell_without_an_id_never_shares_a_model(notebook):
    notebook.run(None)
    display.show([fakes.program()])
    notebook.run(None)
    display.show([fakes.program()])
    display.end_cell()
    assert len(set(models())) == 2


def ours(programs, model=None, in_notebook=False, replies_of=None):
    return {MIME_TYPE: {"version": 1}, "text/plain": "JAXStage"}


def test_where_a_page_draws_our_own_type_the_widget_is_not_saved(notebook, monkeypatch):
    monkeypatch.setattr(display, "static_bundle", ours)
    made = fakes.program()
    display.show([made]).finish([made])
    display.leave_out_widgets(True)
    display.leave_out_widgets(True)
    display.show([made]).finish([made])
    display.leave_out_widgets(False)
    display.show([made]).finish([made])
    shown = [("update" if update else "new", WIDGET_VIEW in data) for data, _, update in notebook.messages]
    assert shown == [("new", True), ("update", False), ("new", False), ("new", True)]
    assert notebook.messages[0][1] == notebook.messages[1][1]


def looked_at(panel, text="once"):
    """A page has opened a tab."""
    program = panel._programs[0]
    if panel.kept.keep(program, "answer", {"question": text}, {"text": text}, []):
        panel.on_kept()


def test_a_tab_that_is_opened_after_the_cell_is_saved_too(notebook, clock):
    made = fakes.program()
    display.leave_out_widgets(True)
    display.show([made]).finish([made])
    (shown,) = display._open.values()
    for text in ("bound", "fit", "bound"):
        looked_at(shown.panel, text)
    assert len(notebook.messages) == 1
    clock.passes(later_saving.QUIET)
    clock.passes(later_saving.QUIET)
    (_, first, _), (data, second, update) = notebook.messages
    assert (first, update) == (second, True)
    assert b"answer" in gzip.decompress(base64.b64decode(data[MIME_TYPE]["reports"]))
    display.leave_out_widgets(False)


@pytest.mark.parametrize("why", ["closed", "widget", "run again"])
def test_a_tab_that_is_opened_is_not_published(notebook, clock, why):
    """Of a panel that is gone, of one that runs again, and where that would draw the widget anew."""
    made = fakes.program()
    display.leave_out_widgets(why != "widget")
    display.show([made]).finish([made])
    (shown,) = display._open.values()
    looked_at(shown.panel)
    if why == "closed":
        shown.close()
    elif why == "run again":
        notebook.run("cell-1")
        display.Shown([fakes.program()], patience=100)
    clock.passes(later_saving.QUIET)
    assert len(notebook.messages) == 1
    display.leave_out_widgets(False)


def test_without_our_own_type_the_widget_stays(notebook, monkeypatch):
    monkeypatch.setattr(display, "static_bundle", lambda *given: {"text/html": "", "text/plain": ""})
    display.leave_out_widgets(True)
    display.show([fakes.program()]).finish([fakes.program()])
    display.leave_out_widgets(False)
    assert notebook.kinds == [("new", True, True)]


def test_bundle_in_a_notebook_has_all_forms(notebook):
    assert list(display.bundle([fakes.program()])) == [WIDGET_VIEW, MIME_TYPE, "text/html", "text/plain"]
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
    imports = "import sys; from jaxstage_ext.panel.showing import display, page"
    code = f"{imports}; print({{'jax', 'ipywidgets'}} & {{*sys.modules}})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_a_client_that_takes_no_input_gets_no_widget(notebook):
    notebook.parent["content"] = {"allow_stdin": False}
    before = live()
    shown = display.show([program := fakes.program()])
    shown.finish([program])
    assert notebook.kinds == [("new", False, True)]
    assert live() == before


def test_google_colab_is_given_the_address_of_its_widget_manager(notebook, monkeypatch):
    colab = SimpleNamespace(
        enable_custom_widget_manager=lambda: None, _widgets=SimpleNamespace(_installed_url="https://example.org/m.js")
    )
    monkeypatch.setitem(sys.modules, "google.colab.output", colab)
    data, metadata = display.mimebundle([fakes.program()])
    assert metadata[WIDGET_VIEW]["colab"]["custom_widget_manager"] == {"url": "https://example.org/m.js"}
    assert display.view_metadata(data) == metadata
    assert display.view_metadata({"text/plain": ""}) == {}
