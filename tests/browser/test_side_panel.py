"""The side panel of JupyterLab and Notebook 7: the inspections of a notebook, tabs beside it, two compared."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.cells import HOSTILE, LOSS, SETUP, slow_to_trace

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Response

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

OTHER = """
%%compile
def other(w, x):
    return jnp.sum(jnp.sin(x @ w) * 2)

other(w, x)
"""
BROKEN = """
%%compile
def broken(w, x):
    return w @ x

broken(w, x)
"""


def side(notebook: NotebookPage) -> Locator:
    """The side panel, shown."""
    notebook.command("jaxstage:show-inspections", wait=False)
    panel = notebook.page.locator(".jxs-side")
    panel.wait_for()
    return panel


def rows(panel: Locator) -> Locator:
    return panel.locator("[data-inspection]")


def labels(panel: Locator) -> list[str]:
    return [str(row.get_attribute("data-status")) for row in rows(panel).all()]


def saves_both_tabs(response: Response) -> bool:
    """JupyterLab saves its layout a second after the last change."""
    if response.request.method != "PUT" or "/api/workspaces/" not in response.url:
        return False
    layout = json.loads(response.request.post_data or "{}").get("data", {}).get("layout-restorer:data", {})
    return json.dumps(layout.get("main", {}).get("dock")).count('"jaxstage-tabs:') == 2


def test_it_lists_opens_and_frees_by_keyboard(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS.replace("-o ins", ""), HOSTILE, BROKEN], own_page=True)
    panel = side(notebook)
    panel.get_by_role("button", name="Load JAXStage").click()
    panel.get_by_text("No inspections yet").wait_for()
    notebook.command("notebook:run-all-cells", wait=False)
    panel.locator('[data-status="failed"]').wait_for()
    notebook.wait_idle()
    assert labels(panel) == ["failed", "done", "done"]
    newest, hostile, loss = rows(panel).all()
    assert "TypeError" in newest.inner_text() and "In [4]" in newest.inner_text()
    expect(hostile).to_contain_text("<img src=x onerror=", use_inner_text=True)
    assert not notebook.page.evaluate("() => window.pwned")
    expect(loss).to_contain_text("loss(w: f32[128,512], x: f32[8,128]) -> f32[]", use_inner_text=True)

    newest.focus()
    newest.press("End")
    assert loss.evaluate("row => row === document.activeElement")
    loss.press("Enter")
    tab = notebook.page.locator(".jaxstage-tab .jaxstage-live .jaxstage")
    tab.wait_for()
    row = tab.locator('[data-doc="python"] [data-row]', has_text="jnp.tanh")
    row.click()
    notebook.panel(0).row("python", "jnp.tanh").and_(notebook.page.locator(".jxs-selected")).wait_for()

    rows(panel).last.focus()
    rows(panel).last.press("Delete")
    panel.locator(".jxs-side-freed", has_text="freed").wait_for()
    notebook.page.locator(".jaxstage-tab", has_text="any more").wait_for()
    rows(panel).last.get_by_role("button", name="In [2]").click()
    notebook.page.locator(".jp-Notebook .jp-Cell.jp-mod-active", has_text="def loss").wait_for()


def test_two_are_compared_in_a_tab_that_survives_a_reload(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS, OTHER], own_page=True)
    panel = side(notebook)
    notebook.run_all()
    rows(panel).nth(1).wait_for()
    rows(panel).first.focus()
    rows(panel).first.press(" ")
    rows(panel).nth(1).locator(".jxs-side-signature").click(modifiers=["Control"])
    panel.get_by_role("button", name="Compare", exact=True).click()
    shown = notebook.page.locator(".jxs-inspections-compared")
    figure = shown.locator('[data-figure="equations"]')
    figure.wait_for()
    assert figure.inner_text().split("\t") == ["equations", "13", "4", "−9 · 0.308×"]
    peak = shown.locator('[data-figure="peak"]').inner_text()
    assert "unknown" in peak and "Memory tab" in peak and "×" not in peak
    shown.get_by_role("button", name="jaxpr").click()
    lines = shown.locator('[data-difference="jaxpr"]')
    lines.locator('[data-what="removed"]', has_text="tanh").wait_for()
    expect(lines.locator('[data-what="added"]').first).to_contain_text("sin", use_inner_text=True)

    rows(panel).nth(1).focus()
    with notebook.page.expect_response(saves_both_tabs):
        rows(panel).nth(1).press("Enter")
    live = notebook.page.locator(".jaxstage-tab .jaxstage-live .jaxstage")
    live.wait_for()
    notebook.page.reload()
    live.wait_for()
    shown.locator('[data-figure="equations"]').wait_for(state="attached")
    notebook.page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    notebook.command("kernelmenu:restart", wait=False)
    notebook.page.locator(".jp-Dialog .jp-mod-accept").click()
    notebook.page.locator(".jaxstage-tab", has_text="The kernel was restarted").first.wait_for(state="attached")
    panel.get_by_text("The kernel was restarted: its inspections are gone.").wait_for()


def test_it_follows_a_run(open_notebook: Opener, lab: Server, tmp_path: Path) -> None:
    notebook = open_notebook(lab, [SETUP, slow_to_trace(tmp_path / "enough")], own_page=True)
    panel = side(notebook)
    panel.get_by_role("button", name="Load JAXStage").click()
    panel.get_by_text("No inspections yet").wait_for()
    notebook.command("notebook:run-all-cells", wait=False)
    status = panel.locator('[data-status="running"] .jxs-side-status')
    expect(status).to_contain_text(re.compile(r"running \d"))
    expect(status).not_to_have_text(status.inner_text())
    (tmp_path / "enough").touch()
    expect(panel.locator('[data-status="done"]')).to_be_visible()


def test_it_is_in_notebook_7_too(open_notebook: Opener, notebook7: Server) -> None:
    notebook = open_notebook(notebook7, [SETUP, LOSS, OTHER])
    panel = side(notebook)
    notebook.run_all()
    expect(rows(panel).nth(1)).to_be_visible()
    rows(panel).nth(1).focus()
    rows(panel).nth(1).press("Enter")
    expect(notebook.page.locator(".jaxstage-tab .jaxstage-live .jaxstage")).to_be_visible()
    for row in rows(panel).all():
        row.focus()
        row.press(" ")
    row.press("c")
    expect(notebook.page.locator('.jxs-inspections-compared [data-figure="equations"]')).to_be_visible()
