"""The findings tab: what to change, tried from the panel, and what a saved notebook keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.cells import SETUP
from tests.browser.legible import assert_legible
from tests.browser.notebook_page import settle
from tests.browser.test_narrow_panel import MOST_HEAD, below_top
from tests.browser.test_reopen import WITHOUT_WIDGETS, copied

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

HOLDS = """text => JSON.stringify(window.jupyterapp.shell.currentWidget.content.model.toJSON()).includes(text)"""
"""Once the kernel has published again what the panel should save."""
STEP = """
%%compile
table = jnp.arange(4_000_000.0)

def step(params, moments, x):
    slopes = jax.grad(lambda params: jnp.tanh(x @ params["w"]).sum())(params)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, slopes)
    return jax.tree.map(lambda p, m: p - m, params, moments), moments, table[:8] * x[0, 0]

step({"w": jnp.ones((512, 512))}, {"w": jnp.ones((512, 512))}, jnp.ones((8, 512)))
"""


@pytest.fixture(scope="module")
def stepped(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, STEP])
    opened.run_all()
    return opened


def findings(panel: PanelOnPage) -> None:
    panel.tab("findings").click()
    panel.root.locator(".jxs-finding").first.wait_for()
    settle(panel.root)


def test_what_was_found_opens_first_and_one_line_above_the_code_leads_to_it(stepped: NotebookPage) -> None:
    panel = stepped.panel()
    panel.root.locator(".jxs-finding").first.wait_for()
    panel.tab("code").click()
    settle(panel.root)
    assert below_top(panel.pane("python").locator(".jxs-code"), panel.root) <= MOST_HEAD
    head = panel.root.locator(".jxs-head-finding")
    expect(head).to_contain_text("Could save")
    head.click()
    panel.root.locator(".jxs-finding").first.wait_for()


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_what_to_change_is_a_list_of_sentences_and_diffs(stepped: NotebookPage, theme: str) -> None:
    stepped.theme(theme)
    panel = stepped.panel()
    findings(panel)
    captured = panel.root.locator('.jxs-finding[data-kind="large captured constant"]')
    captured.locator(".jxs-finding-head").click()
    expect(captured.locator("ins").first).to_contain_text("table", use_inner_text=True)
    stepped.screenshot(f"findings {theme}")
    assert_legible(panel.root)
    stepped.theme("Light")


def test_a_finding_selects_its_line_and_arrows_go_on(stepped: NotebookPage) -> None:
    panel = stepped.panel()
    findings(panel)
    captured = panel.root.locator('.jxs-finding[data-kind="large captured constant"]')
    captured.locator(".jxs-finding-head").click()
    line = captured.locator(".jxs-finding-place code").inner_text()
    panel.root.page.keyboard.press("End")
    panel.root.page.keyboard.press("Enter")
    expect(panel.root.locator(".jxs-finding").last.locator(".jxs-finding-head")).to_have_attribute(
        "aria-expanded", "true"
    )
    captured.locator(".jxs-finding-head").click()
    captured.get_by_role("button", name="Show in the code").click()
    assert line in panel.wait_lit("python", "selected")[0]


def test_a_change_is_tried_and_a_saved_notebook_keeps_what_it_gave(
    stepped: NotebookPage, open_notebook: Opener, lab: Server
) -> None:
    panel = stepped.panel()
    findings(panel)
    donation = panel.root.locator('.jxs-finding[data-kind="missing donation"]')
    donation.locator(".jxs-finding-head").click()
    donation.get_by_role("button", name="Try it").click()
    donation.locator(".jxs-trial tbody tr").first.wait_for()
    stepped.screenshot("findings tried")
    told = donation.locator(".jxs-finding-stake").inner_text()
    assert "of the memory needed" in told
    first = panel.root.locator(".jxs-finding").first.locator(".jxs-finding-stake").inner_text()
    expect(panel.root.locator(".jxs-head-finding")).to_contain_text(first.split("saves ")[-1].strip())
    stepped.page.wait_for_function(WITHOUT_WIDGETS, polling=100)
    stepped.page.wait_for_function(HOLDS, arg="Tried:", polling=100)
    stepped.save()
    saved = open_notebook(lab, copied(nbformat.read(stepped.path, as_version=4), lab, trusted=True)).panel()
    findings(saved)
    again = saved.root.locator('.jxs-finding[data-kind="missing donation"]')
    assert again.locator(".jxs-finding-stake").inner_text() == told
    again.locator(".jxs-finding-head").click()
    again.locator(".jxs-trial tbody tr").first.wait_for()
    expect(saved.root.get_by_role("button", name="Try it")).to_have_count(0)
