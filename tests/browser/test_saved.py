"""What stays in a saved notebook: opened without trust, exported, and as an offline page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.cells import LOSS, SETUP
from tests.browser.notebook_page import PanelOnPage, pictured

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

MOST_SAVED = 100_000


@pytest.fixture(scope="module")
def saved(module_notebook: Opener, lab: Server) -> Path:
    """A notebook that was run and saved, beside the page that `to_html` wrote."""
    notebook = module_notebook(lab, [SETUP, LOSS, "ins.to_html('page.html')"])
    notebook.run_all()
    notebook.panel().stage("compile", "done").wait_for()
    notebook.save()
    return notebook.path


def panel_output(path: Path) -> Any:
    return next(output for output in nbformat.read(path, as_version=4).cells[1].outputs if "data" in output)


def test_the_saved_output_is_small_and_needs_no_kernel(saved: Path) -> None:
    data = panel_output(saved)["data"]
    assert {"text/html", "text/plain"} <= set(data)
    assert len(data["text/html"]) + len(data["text/plain"]) < MOST_SAVED
    assert "<script" not in data["text/html"]
    assert "widgets" not in nbformat.read(saved, as_version=4).metadata


def test_without_trust_the_static_form_is_shown(saved: Path, open_notebook: Opener, plain_lab: Server) -> None:
    """Without the extension, which draws what was saved."""
    notebook = nbformat.read(saved, as_version=4)
    notebook.cells[1].outputs[0].metadata["from"] = "a stranger"
    nbformat.write(notebook, plain_lab.folder / "untrusted.ipynb")
    opened = open_notebook(plain_lab, "untrusted.ipynb")
    output = opened.page.locator(".jp-RenderedHTMLCommon", has_text="loss(w: f32[128,512]").first
    output.wait_for()
    expect(output).to_contain_text("compile", use_inner_text=True)
    assert not opened.panels().count()


def test_nbconvert_shows_the_static_form(saved: Path, browser: Browser) -> None:
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", str(saved), "--log-level=ERROR"], check=True)
    page = browser.new_page()
    page.route("http*://**", lambda route: route.abort())
    page.goto(saved.with_suffix(".html").as_uri())
    output = page.locator(".jp-OutputArea-output", has_text="loss(w: f32[128,512]").first
    expect(output).to_be_visible()
    page.close()


def test_the_offline_page_is_the_interactive_panel(saved: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1500, "height": 900})
    trouble: list[str] = []
    page.on("request", lambda request: trouble.append(request.url) if request.url.startswith("http") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(saved.with_name("page.html").as_uri())
    panel = PanelOnPage(page.locator(".jaxstage"))
    panel.show_panes("python", "stablehlo", "hlo")
    panel.reveal("hlo", " exponential(").hover()
    panel.wait_lit("python", holding="softmax")
    panel.wait_lit("stablehlo", holding="exponential")
    pictured(page, "offline_page")
    page.close()
    assert not trouble


BESIDE = """
%%compile -o ins
token = "hunter2"
def f(x):
    return jnp.tanh(x) * 2

f(x)
"""


def test_lines_that_took_no_part_stay_in_the_kernel(open_notebook: Opener, lab: Server, browser: Browser) -> None:
    notebook = open_notebook(lab, [SETUP, BESIDE, "ins.to_html('beside.html')"], width=1600)
    notebook.run_all()
    panel = notebook.panel()
    panel.show_panes("python", "jaxpr")
    notebook.save()
    output, written = str(panel_output(notebook.path)), notebook.path.with_name("beside.html")
    assert "hunter2" not in output and "jnp.tanh(x) * 2" in output
    assert "hunter2" not in written.read_text()
    panel.row("python", "1 line not shown").locator(".jxs-line").click()
    selected = panel.pane("python:").locator(".jxs-selected")
    expect(selected).to_contain_text('token = "hunter2"')
    panel.pane("python:").locator("[data-row]", has_text="jnp.tanh").locator(".jxs-num").click()
    panel.wait_lit("jaxpr", holding="tanh")
    notebook.screenshot("whole-files")

    page = browser.new_page(viewport={"width": 1500, "height": 900})
    page.goto(written.as_uri())
    saved = PanelOnPage(page.locator(".jaxstage"))
    saved.show_panes("python", "jaxpr")
    saved.row("python", "1 line not shown").locator(".jxs-line").click()
    expect(page.locator(".jxs-message")).to_contain_text("Only the functions that took part are saved")
    saved.reveal("jaxpr", " = tanh").hover()
    saved.wait_lit("python", holding="jnp.tanh(x) * 2")
    pictured(page, "left_out")
    page.close()
