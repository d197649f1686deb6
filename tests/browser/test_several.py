"""Several notebooks and kernels on one page: each panel marks its own cells, and nothing stays behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.notebook_page import PanelOnPage, written

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

SETUP = "%load_ext jaxstage_ext\nimport jax.numpy as jnp\nx = jnp.ones((8, 128))"
CELL = "%%compile\ndef f(x):\n    y = jnp.tanh(x)\n    return y.sum()\n\nf(x)"
TANH = "y = jnp.tanh(x)"
OPEN = """async ([path, kernel, how]) => {
    const app = window.jupyterapp;
    const id = kernel && app.shell.currentWidget.sessionContext.session.kernel.id;
    const opened = await app.commands.execute('docmanager:open', {
        path, factory: 'Notebook', kernel: id ? {id} : undefined, options: {mode: how},
    });
    await opened.context.sessionContext.ready;
}"""
DRAWN = """async () => (await window[Symbol.for('jaxstage.panel')]()).MOUNTED.list.length"""


def views(notebook: NotebookPage) -> Locator:
    return notebook.page.locator(".jp-NotebookPanel")


def panel_of(view: Locator) -> PanelOnPage:
    root = view.locator(".jp-OutputArea-output .jaxstage").first
    root.wait_for()
    return PanelOnPage(root)


def open_beside(notebook: NotebookPage, name: str, *, same_kernel: bool = False) -> Locator:
    """A notebook in a tab beside the shown one, run from its first cell to its last."""
    notebook.page.evaluate(OPEN, [name, same_kernel, "split-right"])
    notebook.wait_idle()
    return views(notebook).last


def expect_hover(view: Locator, *texts: str) -> None:
    expect(view.locator(".cm-line.jaxstage-hover")).to_have_text(texts)


def point(panel: PanelOnPage) -> None:
    panel.show_panes("python", "jaxpr")
    panel.reveal("jaxpr", " = tanh").hover()


def test_a_panel_marks_its_own_notebook_of_two_with_the_same_text(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, CELL], width=1900)
    notebook.run_all()
    other_name = written(lab.folder, [SETUP, CELL])
    lab.start_kernel(other_name)
    other = open_beside(notebook, other_name)
    notebook.run_all()
    first = views(notebook).first
    for view, elsewhere in ((first, other), (other, first)):
        point(panel_of(view))
        expect_hover(view, f"    {TANH}")
        expect_hover(elsewhere)
    notebook.screenshot("several_two_kernels")
    lab.stop_kernel(other_name)


def test_notebooks_of_one_kernel_each_mark_their_cells(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, CELL], width=1900)
    notebook.run_all()
    other = open_beside(notebook, written(lab.folder, [CELL.replace("tanh", "tan")]), same_kernel=True)
    notebook.run_all()
    first = views(notebook).first
    point(panel_of(first))
    expect_hover(first, f"    {TANH}")
    panel = panel_of(other)
    panel.show_panes("python", "jaxpr")
    panel.reveal("jaxpr", " = tan ").hover()
    expect_hover(other, "    y = jnp.tan(x)")
    expect_hover(first)
    notebook.screenshot("several_one_kernel")


def test_cells_move_are_copied_and_go_and_nothing_stays(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, CELL], width=1900)
    notebook.run_all()
    first = views(notebook).first
    page = notebook.page
    notebook.page.evaluate(OPEN, [notebook.name, False, "split-right"])
    notebook.command("notebook:move-cell-up")
    point(panel_of(first))
    expect_hover(first, f"    {TANH}")
    panel_of(first).clear()
    notebook.command("notebook:copy-cell")
    notebook.command("notebook:paste-cell-below")
    expect(notebook.panels()).to_have_count(2)
    point(panel_of(first))
    notebook.screenshot("several_copied")
    notebook.command("notebook:delete-cell")
    expect(notebook.panels()).to_have_count(1)
    assert page.evaluate(DRAWN) == 1
    page.evaluate("name => window.jupyterapp.shell.currentWidget.context.rename(name)", f"new-{notebook.name}")
    point(panel_of(first))
    expect_hover(first, f"    {TANH}")
    notebook.command("notebook:run-cell")
    point(panel_of(first))
    expect_hover(first, f"    {TANH}")
    assert page.evaluate(DRAWN) == 1
    notebook.command("application:close")
    page.wait_for_function(f"async () => await ({DRAWN})() === 0", polling=100)
