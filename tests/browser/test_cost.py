"""The cost tab: what bounds the program, who spends it, and the way from there to the line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from absent import needs
from playwright.sync_api import expect

from tests.browser.cells import LOSS, SETUP
from tests.browser.legible import assert_legible

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

MODEL = (Path(__file__).parent.parent / "benchmarks" / "model.py").read_text()
STEP = "train_step, arguments = step(1)"


def open_cost(panel: PanelOnPage, section: str) -> None:
    panel.tab("cost").click()
    panel.root.locator(".jxs-verdict").wait_for()
    panel.root.locator(f'[data-section="{section}"]').click()


@pytest.fixture(scope="module")
def loss(module_notebook: Opener, lab: Server) -> PanelOnPage:
    """The panel of a small function, for this machine."""
    opened = module_notebook(lab, [SETUP, LOSS])
    opened.run_all()
    return opened.panel()


def test_a_line_of_the_table_leads_to_the_code(loss: PanelOnPage) -> None:
    panel = loss
    open_cost(panel, "table")
    first = panel.root.locator(".jxs-grid-row[data-row]").first
    first.wait_for()
    panel.root.locator('[data-group="instruction"]').click()
    panel.root.locator(".jxs-grid-row", has_text="fusion").first.click()
    panel.root.get_by_role("button", name="Show in the code").click()
    panel.wait_lit("hlo", "selected", holding="fusion")


def test_heat_stands_beside_the_lines(loss: PanelOnPage) -> None:
    panel = loss
    panel.tab("code").click()
    panel.clear()
    expect(panel.root.locator(".jxs-heat")).to_have_count(0)
    panel.root.locator(".jxs-heat-picker select").select_option("FLOPs")
    bar = panel.row("python", "softmax(h)").locator(".jxs-heat")
    bar.wait_for()
    assert "FLOP" in (bar.get_attribute("title") or "")


SECTIONS = {
    "roofline": ".jxs-chart canvas",
    "icicle": ".jxs-icicle canvas",
    "ledger": ".jxs-ledger table",
    "table": ".jxs-grid-row[data-row]",
}


@pytest.fixture(scope="module")
def step(module_notebook: Opener, lab: Server) -> NotebookPage:
    """A transformer's gradient step, for a TPU."""
    needs("v5e:1x1")
    opened = module_notebook(lab, [SETUP, MODEL, STEP, "%compile -t v5e:1x1 train_step(*arguments)"], width=1400)
    opened.run_all()
    return opened


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_of_a_transformer_step(step: NotebookPage, section: str, theme: str) -> None:
    step.theme(theme)
    panel = step.panel()
    open_cost(panel, section)
    panel.root.locator(SECTIONS[section]).first.wait_for()
    verdict = panel.root.locator(".jxs-verdict").inner_text()
    assert "lower bound on TPU v5e" in verdict
    panel.root.scroll_into_view_if_needed()
    step.screenshot(f"cost-{section}-{theme}")
    assert_legible(panel.root)
    step.theme("Light")


def test_a_fusion_opens_to_what_is_inside(step: NotebookPage) -> None:
    panel = step.panel()
    open_cost(panel, "table")
    panel.root.locator('[data-group="instruction"]').click()
    panel.root.locator(".jxs-grid-row", has_text="fusion").first.click()
    panel.root.locator(".jxs-members-toggle").click()
    members = panel.root.locator(".jxs-members .jxs-grid-row[data-row]")
    members.first.wait_for()
    members.first.click()
    step.screenshot("cost-members")
    panel.root.get_by_role("button", name="Show in the code").click()
    assert panel.wait_lit("hlo", "selected")


def test_the_jaxpr_is_counted_too_and_leads_to_its_line(step: NotebookPage) -> None:
    panel = step.panel()
    open_cost(panel, "table")
    panel.root.locator('[data-source="jaxpr"]').click()
    panel.root.locator('[data-group="equation"]').click()
    first = panel.root.locator(".jxs-grid-row[data-row]", has_text="dot_general").first
    first.wait_for()
    first.click()
    step.screenshot("cost-jaxpr")
    panel.root.get_by_role("button", name="Show in the code").click()
    panel.wait_lit("jaxpr", "selected", holding="dot_general")


def test_a_point_of_the_roofline_selects_its_instruction(step: NotebookPage) -> None:
    panel = step.panel()
    open_cost(panel, "roofline")
    chart = panel.root.locator(".jxs-chart canvas")
    chart.wait_for()
    chart.press("Home")
    tip = panel.root.locator(".jxs-tip")
    tip.wait_for()
    name = tip.inner_text().split("\n")[0]
    step.screenshot("cost-roofline-tip")
    panel.root.get_by_role("button", name="Show in the code").click()
    panel.wait_lit("hlo", "selected", holding=f"%{name} = ")


def test_what_was_only_traced_has_the_cost_of_its_jaxpr(open_notebook: Opener, lab: Server) -> None:
    opened = open_notebook(lab, [SETUP, "def f(w, x):\n    return jnp.tanh(x @ w).sum()", "%trace f(w, x)"])
    opened.run_all()
    panel = opened.panel()
    panel.tab("cost").click()
    panel.root.locator(".jxs-grid-row[data-row]").first.wait_for()
    expect(panel.root.locator(".jxs-verdict")).to_contain_text("there is no optimised HLO", use_inner_text=True)
    assert not panel.root.locator("[data-section]").count()
    opened.screenshot("cost-traced")
