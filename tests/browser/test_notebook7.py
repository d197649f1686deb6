"""The same panel in Notebook 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.cells import LOSS, SETUP
from tests.browser.servers import FRESH

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server


def test_hover_click_fold_and_search_in_notebook_7(open_notebook: Opener, notebook7: Server) -> None:
    notebook = open_notebook(notebook7, [SETUP, LOSS], width=1600, kernel=FRESH)
    notebook.run_all()
    panel = notebook.panel()
    panel.show_panes("python", "jaxpr", "hlo")
    panel.reveal("hlo", " exponential(").hover()
    panel.wait_lit("python", holding="softmax")
    panel.row("python", "jnp.tanh").click()
    panel.wait_lit("jaxpr", holding="tanh")
    panel.pane("hlo").get_by_label("Fold all").click()
    panel.pane("hlo").locator(".jxs-folded").first.wait_for()
    panel.pane("hlo").get_by_label("Search this pane").click()
    panel.pane("hlo").locator(".jxs-search input").fill("exponential(")
    panel.pane("hlo").locator(".jxs-hits", has_text="1 / 1").wait_for()
    assert any("exponential(" in row for row in panel.in_view("hlo"))
