"""A notebook run in a real JupyterLab, its panels pictured and its answers read."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from playwright.sync_api import Locator, sync_playwright

from tests.browser.conftest import ARGUMENTS, chromium
from tests.browser.notebook_page import NotebookPage, settle
from tests.browser.servers import Server, running
from tests.showcase.answers import asking, read_answers
from tests.showcase.picture import Picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTH, HEIGHT, SCALE = 1180, 1100, 1.0
"""CSS pixels of the window, in which a panel is 1,000 wide, and dots a pixel."""
NO_WINDOWING = {"windowingMode": "none"}
"""JupyterLab takes cells out of the page that are out of sight; here all stay in it."""
OUTPUTS = "at => window.jupyterapp.shell.currentWidget.content.widgets.at(at).model.outputs.toJSON()"
HAVE_RUN = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .every(cell => cell.model.type !== 'code' || typeof cell.model.executionCount === 'number')"""
FAILED = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.outputs && !(cell.model.getMetadata('tags') ?? []).includes('raises-exception'))
    .flatMap(cell => cell.model.outputs.toJSON().filter(one => one.output_type === 'error'))
    .map(one => one.traceback.join('\\n'))"""
PATIENCE = 900_000
"""Milliseconds for a compile that a tab starts."""


@contextlib.contextmanager
def laboratory() -> Iterator[tuple[Server, Browser]]:
    """A JupyterLab server and a Chromium."""
    with tempfile.TemporaryDirectory(prefix="jaxstage-") as folder, sync_playwright() as playwright:
        home = Path(folder)
        settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
        settings.mkdir(parents=True)
        (settings / "tracker.jupyterlab-settings").write_text(json.dumps(NO_WINDOWING))
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        with running("lab", home) as server:
            yield server, browser
        browser.close()


def taken(
    server: Server, browser: Browser, path: Path, pictures: Sequence[Picture]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """PNG files and answers by the names of a notebook's pictures, after a run of all its cells."""
    notebook = _written(server.folder, path, pictures)
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE)
    open_notebook = NotebookPage(page, server, path.name)
    open_notebook.open()
    open_notebook.theme("Light")
    if page.locator("#jp-left-stack:visible").count():
        open_notebook.command("application:toggle-left-area")
    _run_all(open_notebook)
    answers = read_answers(page.evaluate(OUTPUTS, -1))
    cells = [cell["id"] for cell in notebook.cells]
    shown = page.locator(".jp-Notebook .jp-Cell")
    images = {one.name: _picture(shown.nth(cells.index(one.cell)), one) for one in pictures}
    if open_notebook.errors:
        raise RuntimeError("\n".join(open_notebook.errors))
    page.close()
    server.stop_kernel(path.name)
    return images, answers


def _run_all(notebook: NotebookPage) -> None:
    """Run all cells. JupyterLab's command ends at one that raises as it should, and the cells go on."""
    notebook.run_all()
    if not (failed := notebook.page.evaluate(FAILED)):
        notebook.page.wait_for_function(HAVE_RUN, timeout=PATIENCE, polling=100)
        notebook.wait_idle()
        failed = notebook.page.evaluate(FAILED)
    if failed:
        raise RuntimeError("\n".join([notebook.name, *failed]))


def _written(folder: Path, path: Path, pictures: Sequence[Picture]) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(asking({one.name: one.answer for one in pictures})))
    nbformat.write(notebook, folder / path.name)
    shutil.copytree(path.parent / "images", folder / "images", dirs_exist_ok=True)
    return notebook


def _picture(cell: Locator, picture: Picture) -> bytes:
    """The panel of a cell, at the tab, once nothing in it is being computed."""
    panel = cell.locator(".jaxstage").first
    panel.wait_for()
    settle(panel, PATIENCE)
    tab = panel.locator(f'[role="tab"][data-view="{picture.view}"][aria-selected="false"]')
    for locator in (*tab.all(), *(panel.locator(selector).first for selector in picture.clicks)):
        locator.click()
        settle(panel, PATIENCE)
    panel.page.mouse.move(2, 2)
    settle(panel, PATIENCE)
    if panel.get_by_text("computing").count():
        raise RuntimeError(f"{picture.name}: something is still being computed")
    return panel.screenshot()
