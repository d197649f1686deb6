"""The panel with the JupyterLab extension and without: live, saved, and after a reload."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import nbformat
from playwright.sync_api import expect

from tests.browser.cells import LOSS, SETUP, slow_to_trace
from tests.browser.notebook_page import PanelOnPage

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

TWICE = "def g(x):\n    return jnp.tanh(x) + 1\n\njaxstage_ext.inspect(g, x)"
STYLES = (
    "() => document.adoptedStyleSheets.filter(sheet => sheet.cssRules[0]?.cssText.startsWith('@layer jaxstage')).length"
)
COUNT_BLOBS = """() => {
    window.blobs = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = blob => { window.blobs.push(blob.size); return make.call(URL, blob); };
}"""

NO_SUBSHELLS = """() => {
    const { shell, serviceManager } = window.jupyterapp;
    serviceManager.kernels.commsOverSubshells = 'disabled';
    shell.currentWidget.sessionContext.session.kernel.commsOverSubshells = 'disabled';
}"""


def live(notebook: NotebookPage) -> Locator:
    return notebook.page.locator(".jaxstage-live .jaxstage")


def saved(notebook: NotebookPage) -> Locator:
    return notebook.page.locator(".jaxstage-static .jaxstage")


def reload(notebook: NotebookPage) -> None:
    notebook.page.reload()
    notebook.page.wait_for_function("() => !!window.jupyterapp", polling=100)


def run_and_save(notebook: NotebookPage) -> Path:
    notebook.run_all()
    notebook.panel().stage("compile", "done").wait_for()
    notebook.save()
    return notebook.path


def test_one_build_draws_all_panels_of_a_page(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS, TWICE], own_page=True)
    notebook.page.evaluate(COUNT_BLOBS)
    notebook.run_all()
    expect(live(notebook)).to_have_count(2)
    live(notebook).nth(1).wait_for()
    assert max(notebook.page.evaluate("() => window.blobs")) < 6_000  # anywidget's, of the stub
    assert notebook.page.evaluate(STYLES) == 1
    assert not notebook.page.get_by_text("With the JupyterLab extension").count()


def test_without_the_extension_the_kernel_sends_the_code_once(open_notebook: Opener, plain_lab: Server) -> None:
    notebook = open_notebook(plain_lab, [SETUP, LOSS, TWICE], own_page=True)
    notebook.page.evaluate(COUNT_BLOBS)
    notebook.run_all()
    expect(notebook.panels()).to_have_count(2)
    panel = notebook.panel(1)
    assert len([size for size in notebook.page.evaluate("() => window.blobs") if size > 50_000]) == 1
    panel.tab("cost").click()
    panel.root.locator('[data-view="cost"] [role="grid"], [data-view="cost"] table').first.wait_for()
    expect(panel.root).to_contain_text("With the JupyterLab extension")
    notebook.screenshot("without_extension")


def test_without_subshells_the_state_shows_progress_until_the_code_comes(
    open_notebook: Opener, plain_lab: Server, tmp_path: Path
) -> None:
    notebook = open_notebook(plain_lab, [SETUP, slow_to_trace(tmp_path / "enough")], own_page=True)
    notebook.page.evaluate(NO_SUBSHELLS)
    notebook.command("notebook:run-all-cells", wait=False)
    waiting = notebook.page.locator(".jp-OutputArea-output", has_text="Loading the panel…")
    running = re.compile(r"trace running… \d+\.\d s · lower waiting")
    expect(waiting).to_contain_text(running)
    first = waiting.inner_text()
    expect(waiting).not_to_have_text(first)
    expect(waiting).to_contain_text(running)
    expect(notebook.panels()).to_have_count(0)
    notebook.screenshot("busy_without_subshells")
    (tmp_path / "enough").touch()
    notebook.panel().stage("compile", "done").wait_for()
    expect(waiting).to_have_count(0)


def test_a_reload_swaps_the_live_panel_in_and_a_restart_the_saved_one(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS])
    run_and_save(notebook)
    reload(notebook)
    live(notebook).wait_for()
    expect(saved(notebook)).to_have_count(0)
    notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    saved(notebook).wait_for()
    expect(live(notebook)).to_have_count(0)
    expect(notebook.page.locator(".jaxstage-note")).to_contain_text("Saved output; run the cell for the live panel.")
    notebook.screenshot("m-static")


def test_a_fresh_kernel_shows_what_was_saved(open_notebook: Opener, lab: Server) -> None:
    path = run_and_save(open_notebook(lab, [SETUP, LOSS]))
    copy = path.with_name("fresh.ipynb")
    copy.write_bytes(path.read_bytes())
    opened = open_notebook(lab, copy.name)
    panel = PanelOnPage(saved(opened))
    panel.show_panes("python", "hlo")
    panel.reveal("hlo", " exponential(").hover()
    panel.wait_lit("python", holding="softmax")
    opened.screenshot("saved_fresh_kernel")


def test_an_untrusted_notebook_shows_what_was_saved(open_notebook: Opener, lab: Server) -> None:
    path = run_and_save(open_notebook(lab, [SETUP, LOSS]))
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].outputs[0].metadata["from"] = "a stranger"
    nbformat.write(notebook, path.with_name("untrusted_saved.ipynb"))
    opened = open_notebook(lab, "untrusted_saved.ipynb")
    panel = PanelOnPage(saved(opened))
    panel.show_panes("python", "hlo")
    assert not live(opened).count()


def test_notebook_7_is_as_jupyterlab(open_notebook: Opener, notebook7: Server) -> None:
    notebook = open_notebook(notebook7, [SETUP, LOSS])
    run_and_save(notebook)
    expect(live(notebook)).to_have_count(1)
    reload(notebook)
    live(notebook).wait_for()
    expect(saved(notebook)).to_have_count(0)
    notebook.screenshot("extension_notebook7")


def test_tab_panes_and_selection_survive_a_reload(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS])
    run_and_save(notebook)
    panel = notebook.panel()
    panel.show_panes("python", "stablehlo")
    panel.row("python", "jnp.tanh").locator(".jxs-num").click()
    assert any("tanh" in row for row in panel.lit("python", "selected"))
    reload(notebook)
    live(notebook).wait_for()
    panel = PanelOnPage(live(notebook))
    panel.wait_lit("python", "selected", holding="tanh")
    panel.wait_lit("stablehlo", holding="tanh")
    expect(panel.pane("hlo")).to_have_count(0)
    panel.tab("cost").click()
    reload(notebook)
    live(notebook).wait_for()
    expect(PanelOnPage(live(notebook)).tab("cost")).to_have_attribute("aria-selected", "true")
