"""What marimo is given of a shown value, and when its panel ends. `test_marimo` in tests/browser has the real one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import fakes
import pytest

import jaxstage_ext
from jaxstage_ext.panel.panel import Panel
from jaxstage_ext.panel.showing import display, marimo_display
from jaxstage_ext.panel.showing.marimo_display import StillForm


@pytest.fixture
def marimo(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The context of a marimo whose cells run in this process."""
    known = SimpleNamespace(virtual_files_supported=True)
    package, context = ModuleType("marimo"), ModuleType("marimo._runtime.context")
    package.running_in_notebook = lambda: True  # type: ignore[attr-defined]
    context.get_context = lambda: known  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "marimo", package)
    monkeypatch.setitem(sys.modules, "marimo._runtime.context", context)
    yield known
    display.freeze_all()


def live() -> list[str]:
    return [model for model, _, _ in display.live_panels()]


def test_a_cell_that_runs_again_closes_the_comm_and_with_it_the_panel(marimo: SimpleNamespace) -> None:
    panel = marimo_display.shown([fakes.program()])
    assert isinstance(panel, Panel) and live() == [panel.model_id]
    panel.comm.close()
    assert live() == [] and panel._programs == [] and marimo_display._sessions == {}


def test_each_view_has_a_panel_of_its_own(marimo: SimpleNamespace) -> None:
    program = fakes.program()
    first, second = marimo_display.shown([program]), marimo_display.shown([program])
    assert isinstance(first, Panel) and isinstance(second, Panel)
    assert live() == [first.model_id, second.model_id]
    first.comm.close()
    assert live() == [second.model_id] and second._programs == [program]


def test_the_panels_of_a_page_that_was_closed_end_with_the_next(marimo: SimpleNamespace) -> None:
    session = threading.Thread(target=marimo_display.shown, args=([fakes.program()],))
    session.start()
    session.join()
    assert len(live()) == 1
    panel = marimo_display.shown([fakes.program()])
    assert isinstance(panel, Panel) and live() == [panel.model_id]


def test_an_export_has_the_still_form(marimo: SimpleNamespace) -> None:
    marimo.virtual_files_supported = False
    still = marimo_display.shown([fakes.program()])
    assert isinstance(still, StillForm) and "<script" not in still._repr_html_() and live() == []


def test_values_give_the_panel_in_marimo(marimo: SimpleNamespace) -> None:
    inspection = jaxstage_ext.inspect(lambda x: x + 1, 1.0, stage="lower")
    for value in (inspection, jaxstage_ext.compiles(), jaxstage_ext.compile_cache()):
        assert isinstance(value._display_(), Panel)
    assert len(live()) == 3


def test_values_give_still_html_elsewhere() -> None:
    inspection = jaxstage_ext.inspect(lambda x: x + 1, 1.0, stage="lower")
    for value in (inspection, jaxstage_ext.compiles(), jaxstage_ext.compile_cache()):
        still = value._display_()
        assert isinstance(still, StillForm) and "<" in still._repr_html_()
    assert live() == []
