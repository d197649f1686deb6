"""Hover and click, from every pane to every other, in one JupyterLab page with all four panes open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.cells import LOSS, SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

SOFTMAX = {
    "python": "jax.nn.softmax(h)",
    "jaxpr": " = exp",
    "stablehlo": "stablehlo.exponential",
    "hlo": " exponential(",
}
TANH = {"python": "jnp.tanh(x @ w)", "jaxpr": " = tanh", "stablehlo": "stablehlo.tanh", "hlo": " tanh("}
HUE = "row => row.style.getPropertyValue('--jxs-h')"
every_pane = pytest.mark.parametrize("origin", SOFTMAX)


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, LOSS], width=2200)
    opened.run_all()
    opened.panel().show_panes(*SOFTMAX)
    return opened


@pytest.fixture
def panel(notebook: NotebookPage) -> Iterator[PanelOnPage]:
    panel = notebook.panel()
    yield panel
    panel.clear()


@every_pane
def test_hover_lights_the_counterparts_in_every_pane(panel: PanelOnPage, origin: str) -> None:
    rows = {doc: panel.reveal(doc, text) for doc, text in SOFTMAX.items()}
    rows[origin].hover()
    for doc, text in SOFTMAX.items():
        lit = panel.wait_lit(doc)
        assert any(text in row for row in lit), f"{doc}: {lit}"
        assert not any(TANH[doc] in row for row in lit), f"{doc}: {lit}"


@every_pane
def test_click_selects_and_stays(panel: PanelOnPage, origin: str) -> None:
    panel.reveal(origin, TANH[origin]).locator(".jxs-num").click()
    panel.root.page.mouse.move(2, 2)
    assert len(panel.lit(origin, "selected")) == 1
    for doc, text in TANH.items():
        assert any(text in row for row in panel.wait_lit(doc)), doc
        assert any(text in row for row in panel.in_view(doc)), f"{doc} was not scrolled there"


def test_escape_clears_the_selection(panel: PanelOnPage) -> None:
    panel.reveal("jaxpr", TANH["jaxpr"]).locator(".jxs-num").click()
    panel.clear()
    assert not any(panel.lit(doc) for doc in SOFTMAX)


def test_rows_of_one_source_line_share_their_colour(panel: PanelOnPage) -> None:
    colours = {doc: panel.reveal(doc, text).evaluate(HUE) for doc, text in SOFTMAX.items()}
    assert len(set(colours.values())) == 1
    assert colours["python"] != panel.row("python", TANH["python"]).evaluate(HUE)


def test_the_strip_says_what_the_line_came_from(panel: PanelOnPage) -> None:
    panel.reveal("hlo", SOFTMAX["hlo"]).hover()
    assert "In [2]:4" in panel.detail()
    assert "loss" in panel.detail()


def test_an_operation_is_explained_where_the_pointer_or_the_keyboard_is(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, "%%compile\ndef f(x):\n    return jnp.tanh(x) @ x.T\n\nf(jnp.ones((8, 8)))"])
    notebook.run_all()
    panel = notebook.panel()
    panel.show_panes("jaxpr", "stablehlo", "hlo")
    tanh = panel.pane("jaxpr").locator(".jxs-t-op", has_text="tanh")
    tanh.hover()
    panel.root.locator(".jxs-operation", has_text="tanh The hyperbolic tangent of each element.").wait_for()
    panel.pane("jaxpr").locator(".jxs-t-op", has_text="dot_general").hover()
    tanh.hover()
    expect(tanh).to_have_attribute("title", "The hyperbolic tangent of each element.")
    product = panel.pane("stablehlo").locator(".jxs-t-op", has_text="dot_general")
    product.click()
    panel.root.locator(".jxs-operation", has_text="stablehlo.dot_general A matrix product").wait_for()
    panel.pane("hlo").locator(".jxs-t-op", has_text="tanh").first.hover()
    panel.root.locator(".jxs-operation", has_text="tanh The hyperbolic tangent").wait_for()
