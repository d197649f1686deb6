"""A saved notebook opened in each way that a reader may: the report is there, and never an error in its place."""

from __future__ import annotations

import copy
import uuid
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.cells import LOSS, SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

PAYLOAD = "application/vnd.jaxstage.v1+json"
SIGNATURE = "loss(w: f32[128,512]"
BROKEN = "model not found|Error displaying widget|Could not render|Javascript Error"


WITHOUT_WIDGETS = """() => window.jupyterapp.shell.currentWidget.content.widgets.every(cell =>
    cell.model.outputs.toJSON().every(
        output => !("application/vnd.jupyter.widget-view+json" in (output.data ?? {}))))"""
"""Once the extension has told the kernel that it draws panels, a moment after the first of them."""


def ran(notebook: NotebookPage, extension: bool = True) -> Any:
    """Run all, save, and read the saved notebook."""
    notebook.run_all()
    notebook.panel().stage("compile", "done").wait_for()
    if extension:
        notebook.page.wait_for_function(WITHOUT_WIDGETS, polling=100)
    notebook.save()
    return nbformat.read(notebook.path, as_version=4)


@pytest.fixture(scope="module")
def saved(module_notebook: Opener, lab: Server) -> Any:
    """A notebook that was run and saved with the extension."""
    return ran(module_notebook(lab, [SETUP, LOSS]))


@pytest.fixture(scope="module")
def saved_without(module_notebook: Opener, plain_lab: Server) -> Any:
    """A notebook that was run and saved without the extension."""
    return ran(module_notebook(plain_lab, [SETUP, LOSS]), extension=False)


def copied(notebook: Any, server: Server, trusted: bool) -> str:
    """The name of a copy in a server's folder, which its pages trust or do not."""
    made, name = copy.deepcopy(notebook), f"{uuid.uuid4().hex[:8]}.ipynb"
    made.cells[1].outputs[0].metadata["copy"] = name
    nbformat.write(made, server.folder / name)
    if trusted:
        server.trust(name)
    return name


def output(notebook: NotebookPage) -> Any:
    return notebook.page.locator(".jp-Cell").nth(1).locator(".jp-OutputArea-output")


def sees_the_report(notebook: NotebookPage) -> None:
    expect(output(notebook).get_by_text(SIGNATURE).first).to_be_visible()
    shown = " ".join(output(notebook).all_inner_texts())
    assert not any(text in shown for text in BROKEN.split("|"))


def sees_the_saved_panel(notebook: NotebookPage) -> None:
    """The tabs and documents of the saved report work, and the page says that it is one."""
    sees_the_report(notebook)
    expect(output(notebook).get_by_text("Saved output; run the cell for the live panel.")).to_be_visible()
    panel = notebook.panel()
    panel.show_panes("python", "hlo")
    panel.row("python", "softmax").locator(".jxs-num").click()
    assert panel.wait_lit("hlo")


def sees_the_live_panel(notebook: NotebookPage) -> None:
    sees_the_report(notebook)
    panel = notebook.panel()
    panel.tab("options").click()
    panel.root.locator('[data-view="options"] input').first.wait_for()
    assert not output(notebook).get_by_text("Saved output").count()


def test_page_reload_with_a_live_kernel(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS])
    ran(notebook)
    notebook.open()
    sees_the_live_panel(notebook)
    notebook.screenshot("reopen_reload_live_kernel")


def test_page_reload_where_the_last_run_was_not_saved(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS])
    ran(notebook)
    notebook.run_all()
    notebook.open()
    sees_the_live_panel(notebook)
    notebook.screenshot("reopen_reload_not_saved")


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
def test_fresh_kernel(open_notebook: Opener, lab: Server, saved: Any, trusted: bool) -> None:
    notebook = open_notebook(lab, copied(saved, lab, trusted))
    sees_the_saved_panel(notebook)
    notebook.screenshot(f"reopen_fresh_kernel_{'trusted' if trusted else 'untrusted'}")


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
def test_saved_without_the_extension_and_opened_with_it(
    open_notebook: Opener, lab: Server, saved_without: Any, trusted: bool
) -> None:
    notebook = open_notebook(lab, copied(saved_without, lab, trusted))
    sees_the_saved_panel(notebook)
    notebook.screenshot(f"reopen_saved_without_extension_{'trusted' if trusted else 'untrusted'}")


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
def test_saved_with_the_extension_and_opened_without_it(
    open_notebook: Opener, plain_lab: Server, saved: Any, trusted: bool
) -> None:
    notebook = open_notebook(plain_lab, copied(saved, plain_lab, trusted))
    sees_the_report(notebook)
    notebook.screenshot(f"reopen_no_extension_{'trusted' if trusted else 'untrusted'}")


def test_without_the_extension_a_live_kernel_still_has_the_panel(open_notebook: Opener, plain_lab: Server) -> None:
    notebook = open_notebook(plain_lab, [SETUP, LOSS])
    ran(notebook, extension=False)
    notebook.open()
    sees_the_live_panel(notebook)
    notebook.screenshot("reopen_no_extension_live_kernel")


def test_without_the_extension_an_untrusted_page_has_the_html(
    open_notebook: Opener, plain_lab: Server, saved_without: Any
) -> None:
    notebook = open_notebook(plain_lab, copied(saved_without, plain_lab, trusted=False))
    sees_the_report(notebook)
    notebook.screenshot("reopen_never_extension_untrusted")


def test_notebook_7(open_notebook: Opener, notebook7: Server, saved: Any) -> None:
    notebook = open_notebook(notebook7, copied(saved, notebook7, trusted=True))
    sees_the_saved_panel(notebook)
    notebook.screenshot("reopen_notebook7_fresh_kernel")
    ran(notebook)
    notebook.open()
    sees_the_live_panel(notebook)
    notebook.screenshot("reopen_notebook7_live_kernel")


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        (0, "An older JAXStage saved this output (format 0): run the cell again."),
        (2, "A newer JAXStage saved this output (format 2): update jaxstage-ext to see it."),
        ("1", "This saved output is damaged; run the cell again."),
    ],
)
def test_a_report_of_another_version_says_what_it_needs_above_its_text(
    open_notebook: Opener, lab: Server, saved: Any, version: Any, sentence: str
) -> None:
    other = copy.deepcopy(saved)
    other.cells[1].outputs[0].data[PAYLOAD]["version"] = version
    notebook = open_notebook(lab, copied(other, lab, trusted=False))
    expect(output(notebook).get_by_text(sentence)).to_be_visible()
    sees_the_report(notebook)
    notebook.screenshot(f"reopen_version_{version}")


def test_nothing_that_a_code_host_refuses_is_in_the_file(saved: Any, saved_without: Any) -> None:
    """GitHub shows "Invalid Notebook" in place of one whose metadata.widgets it cannot read."""
    for notebook in (saved, saved_without):
        nbformat.validate(notebook)
        assert "widgets" not in notebook.metadata
        assert {PAYLOAD, "text/html", "text/plain"} <= set(notebook.cells[1].outputs[0].data)
