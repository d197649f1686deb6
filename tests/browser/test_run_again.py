"""A cell that runs again with other code: its panel is the same model, and shows what ran last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.cells import SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

CELL = "%%compile\ndef f(x):\n    return jnp.{}(x).sum()\nf(x)"
SET_SOURCE = """([from, to]) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    for (const { model } of content.widgets) {
        model.sharedModel.setSource(model.sharedModel.getSource().replace(from, to));
    }
}"""


def test_a_cell_that_runs_again_with_other_code_shows_that(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, CELL.format("sin")])
    notebook.run_all()
    panel = notebook.panel()
    panel.stage("compile", "done").wait_for()
    panel.show_panes("python", "jaxpr")
    panel.reveal("jaxpr", "= sin ")
    notebook.page.evaluate(SET_SOURCE, ["jnp.sin", "jnp.cos"])
    notebook.run_all()
    panel = notebook.panel()
    panel.stage("compile", "done").wait_for()
    panel.show_panes("python", "jaxpr")
    panel.reveal("jaxpr", "= cos ").hover()
    panel.wait_lit("python", holding="jnp.cos")
    assert not panel.root.get_by_text("jnp.sin").count()
    expect(notebook.panels()).to_have_count(1)
