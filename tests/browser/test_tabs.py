"""The panel's tabs, and the flag browser among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.cells import SETUP
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

WITH_OPTIONS = """
%%compile --xla cpu_enable_fast_math=True -O 1
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))

loss(w, x)
"""


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, WITH_OPTIONS, "%trace loss(w, x)"], width=1600, height=1200)
    opened.run_all()
    return opened


@pytest.fixture
def panel(notebook: NotebookPage) -> Iterator[PanelOnPage]:
    panel = notebook.panel()
    panel.tab("code").click()
    yield panel
    panel.tab("code").click()


def names(panel: PanelOnPage) -> list[str]:
    settle(panel.root)
    return panel.root.locator("[data-flag]").evaluate_all("rows => rows.map(row => row.dataset.flag)")


def test_a_tab_shows_its_view_and_the_code_is_found_as_it_was(panel: PanelOnPage) -> None:
    panel.row("python", "jnp.tanh").click()
    lit = panel.wait_lit("hlo")
    panel.tab("options").click()
    panel.root.locator("[data-flag]").first.wait_for()
    expect(panel.root.locator(".jxs-code")).to_have_count(0)
    panel.tab("code").click()
    assert panel.wait_lit("hlo") == lit
    assert "jnp.tanh" in panel.lit("python", "selected")[0]
    panel.clear()


def test_numbers_and_arrows_switch_and_the_notebook_hears_none_of_it(panel: PanelOnPage) -> None:
    tabs = panel.root.get_by_role("tab").evaluate_all("tabs => tabs.map(tab => tab.dataset.view)")
    panel.pane("python").locator(".jxs-code").press(str(tabs.index("layouts") + 1))
    panel.root.locator('[data-view="layouts"]:focus').wait_for()
    # the next number switches again, and is not typed into a search box
    panel.root.page.keyboard.press(str(tabs.index("code") + 1))
    panel.root.locator(".jxs-code").first.wait_for()
    panel.pane("python").locator(".jxs-code").press(str(tabs.index("layouts") + 1))
    panel.root.locator('[data-view="layouts"]:focus').wait_for()
    panel.tab("options").press("ArrowRight")
    panel.tab("findings").press("ArrowRight")
    panel.tab("code").press("Enter")
    panel.root.locator(".jxs-code").first.wait_for()
    for key in "dd":
        panel.root.page.keyboard.press(key)
    expect(panel.root.page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)


def test_options_are_searched_and_copied(panel: PanelOnPage) -> None:
    panel.tab("options").click()
    row = panel.root.locator("[data-flag]")
    row.first.wait_for()
    assert names(panel)[:2] == ["xla_backend_optimization_level", "xla_cpu_enable_fast_math"]
    expect(row.nth(1)).to_contain_text("default False", use_inner_text=True)
    total = len(names(panel))
    assert total > 300
    box = panel.root.locator("input[type=search]")
    box.fill("dump hlo text")
    panel.root.locator(".jxs-flag-count", has_text=f"of {total} flags").wait_for()
    assert "xla_dump_hlo_as_text" in names(panel)
    assert all("dump" in name and "text" in name for name in names(panel))
    box.press("Enter")
    panel.root.locator(".jxs-message", has_text="Copied --xla xla_dump_hlo_as_").wait_for()
    box.press("Escape")
    panel.root.get_by_role("button", name="set here").click()
    row.nth(1).wait_for()
    assert len(names(panel)) == 2
    panel.root.get_by_role("button", name="set here").click()


def test_a_trace_alone_has_its_code_and_its_cost(notebook: NotebookPage) -> None:
    panel = notebook.panel(1)
    panel.root.locator(".jxs-toolbar").wait_for()
    assert panel.root.get_by_role("tab").evaluate_all("tabs => tabs.map(tab => tab.dataset.view)") == [
        "findings",
        "code",
        "cost",
    ]
