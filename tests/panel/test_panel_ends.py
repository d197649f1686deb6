"""How panels end: replaced, closed, static, and what they then let go of."""

from __future__ import annotations

import fakes
import ipywidgets
import pytest

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.saving.saved_output import MIME_TYPE
from jaxstage_ext.panel.showing import display
from jaxstage_ext.panel.showing.display import WIDGET_VIEW


def live():
    return len(ipywidgets.widgets.widget._instances)


def test_a_panel_that_is_replaced_stops_what_it_waits_for(notebook, monkeypatch):
    stopped = []
    monkeypatch.setattr(jobs, "stop_all", stopped.extend)
    first, second = fakes.program(), fakes.program()
    display.show([first])
    assert stopped == []
    notebook.run("cell-1")
    display.show([second])
    assert stopped == [first]


@pytest.mark.parametrize("ended", ["closed", "run again"])
def test_what_the_programs_of_its_tabs_wait_for_is_stopped_too(notebook, monkeypatch, ended):
    stopped = []
    monkeypatch.setattr(jobs, "stop_all", stopped.extend)
    made, opened = fakes.program(), fakes.program()
    display.show([made])
    made.opened.append(opened)
    if ended == "closed":
        display.freeze([made])
    else:
        notebook.run("cell-1")
        display.show([fakes.program()])
    assert stopped == [made, opened]


def test_what_another_panel_shows_too_goes_on(notebook, monkeypatch):
    stopped = []
    monkeypatch.setattr(jobs, "stop_all", stopped.extend)
    shared, alone = fakes.program(), fakes.program()
    display.show([shared, alone])
    notebook.run("cell-2")
    display.show([shared])
    notebook.run("cell-1")
    display.show([fakes.program()])
    assert stopped == [alone]


@pytest.mark.parametrize("by", [lambda made: display.freeze([made]), lambda made: display.leave_out_widgets(True)])
def test_nothing_is_published_into_a_variable_that_captures(notebook, monkeypatch, by):
    made = fakes.program()
    display.show([made]).finish([made])
    before = len(notebook.messages)
    monkeypatch.setattr(display, "_is_captured", lambda: True)
    by(made)
    display.leave_out_widgets(False)
    assert len(notebook.messages) == before


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
    assert [sorted(data) for data, _ in frozen] == [[MIME_TYPE, "text/html", "text/plain"]] * 3
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
    monkeypatch.setattr(display, "static_bundle", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        display.freeze_all()
    assert not display._open
    assert live() == before
