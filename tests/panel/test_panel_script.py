"""What a page is sent to draw panels: a stub with each, the script and its style when it asks for them."""

from __future__ import annotations

import gzip

import fakes
import pytest

from jaxstage_ext.panel import assets
from jaxstage_ext.panel.panel import Panel
from jaxstage_ext.panel.requests import dispatch

LARGEST_STUB = 6_000


@pytest.fixture
def panel():
    made = Panel([fakes.program()])
    yield made
    made.close()


def test_a_panel_sends_a_stub_and_no_style(panel):
    state = panel.get_state()
    assert len(state["_esm"]) < LARGEST_STUB
    assert "_css" not in state
    assert state["panel_id"] == panel.model_id


def test_the_script_comes_with_its_style(panel):
    _, [script, style] = dispatch.answer(panel._programs, "script", {"doc": "panel"})
    assert gzip.decompress(script).decode() == assets.text("panel.js")
    assert gzip.decompress(style).decode() == assets.text("panel.css")


def test_tabs_scripts_make_elements_only_as_the_panel_shares_how():
    """A `key` behind a spread becomes a call of createElement, which no panel shares: the tab would stay empty."""
    assert not [name for name in assets.scripts() if ".createElement)" in assets.text(f"{name}.js")]
