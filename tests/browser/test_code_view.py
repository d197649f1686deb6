"""Folding, search, names, toggles, keys: what one pane does, in one JupyterLab page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.cells import ATTENTION, HELPERS, SETUP
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, HELPERS, ATTENTION], width=2000, height=1200)
    opened.run_all()
    opened.panel().show_panes("python", "jaxpr", "hlo")
    return opened


@pytest.fixture
def panel(notebook: NotebookPage) -> Iterator[PanelOnPage]:
    panel = notebook.panel()
    panel.scroll("hlo", 0)
    yield panel
    panel.clear()


def hits(panel: PanelOnPage, text: str) -> None:
    panel.pane("hlo").locator(".jxs-hits", has_text=re.compile(text)).wait_for()


def test_a_helper_in_another_cell_and_a_loop_are_linked(panel: PanelOnPage) -> None:
    panel.row("python", "return q @ k.T").hover()
    panel.wait_lit("jaxpr", holding="dot_general")
    panel.wait_lit("hlo", holding="dot(")


def test_a_call_that_spans_lines_is_lit_as_a_whole(panel: PanelOnPage) -> None:
    panel.row("jaxpr", " = exp").hover()
    lit = " ".join(panel.wait_lit("python"))
    assert "weights = jax.nn.softmax(" in lit
    assert "axis=-1" in lit


def test_fold_hides_the_block_and_unfold_brings_it_back(panel: PanelOnPage) -> None:
    fold = panel.pane("hlo").locator(".jxs-fold-open").first
    row = int(fold.evaluate("fold => fold.closest('[data-row]').dataset.row"))
    header, inside = (panel.pane("hlo").locator(f'[data-row="{n}"]') for n in (row, row + 1))
    header.locator(".jxs-fold").click()
    expect(header).to_contain_text(re.compile(r"⋯ \d+ lines"), use_inner_text=True)
    expect(inside).to_have_count(0)
    header.locator(".jxs-fold").click()
    expect(inside).to_be_visible()


def test_search_counts_and_steps_through_the_hits(panel: PanelOnPage) -> None:
    panel.pane("hlo").get_by_label("Search this pane").click()
    box = panel.pane("hlo").locator(".jxs-search input")
    box.fill("FUSION(")
    hits(panel, r"\d+ / \d+$")
    total = panel.pane("hlo").locator(".jxs-hits").inner_text().split("/")[1].strip()
    assert int(total) > 2
    box.press("Enter")
    hits(panel, rf"^2 / {total}$")
    box.press("Shift+Enter")
    box.press("Shift+Enter")
    hits(panel, rf"^{total} / {total}$")
    assert any("fusion(" in row for row in panel.in_view("hlo"))
    panel.pane("hlo").get_by_label("Match case").click()
    hits(panel, "no hits")


def test_a_name_lights_its_definition_and_uses(panel: PanelOnPage) -> None:
    name = panel.row("jaxpr", " = exp").locator(".jxs-t-def").first
    name.hover()
    wanted = name.get_attribute("data-name")
    same = panel.pane("jaxpr").locator(".jxs-same")
    same.first.wait_for()
    settle(panel.root)
    assert {node.get_attribute("data-name") for node in same.all()} == {wanted}
    assert same.count() >= 3, "where it is bound, and where it is used"


def test_a_called_computation_is_gone_to_and_back(panel: PanelOnPage) -> None:
    panel.pane("hlo").locator(".jxs-code").press("End")
    settle(panel.root)
    call = panel.pane("hlo").locator(".jxs-t-ref:not(.jxs-t-def)").last
    name = call.get_attribute("data-name") or "?"
    call.click()
    selected = panel.wait_lit("hlo", "selected")
    assert name.lstrip("%") in selected[0]
    assert selected[0].endswith("{")
    panel.root.get_by_label("Back").click()
    assert f"%{name.lstrip('%')}" in panel.wait_lit("hlo", "selected")[0]


def test_toggles_change_what_a_line_shows(panel: PanelOnPage) -> None:
    line = panel.row("hlo", "parameter(0)").locator(".jxs-line")
    toggle = panel.root.locator('[data-toggle="layouts"]')
    assert "{1,0}" not in line.inner_text()
    toggle.click()
    expect(line).to_contain_text("{1,0}", use_inner_text=True)
    toggle.click()
    panel.root.locator('[data-toggle="types"]').click()
    expect(line).not_to_contain_text("f32[", use_inner_text=True)
    panel.root.locator('[data-toggle="types"]').click()
    expect(line).to_contain_text("f32[", use_inner_text=True)


def test_keys_do_all_of_it(panel: PanelOnPage) -> None:
    code = panel.pane("jaxpr").locator(".jxs-code")
    code.press("Home")
    for _ in range(4):
        code.press("ArrowDown")
    code.press("Enter")
    assert len(panel.lit("jaxpr", "selected")) == 1
    code.press("/")
    panel.pane("jaxpr").locator(".jxs-search input").wait_for()
    panel.pane("jaxpr").locator(".jxs-search input").press("Escape")
    code.press("?")
    panel.root.locator(".jxs-help").wait_for()
    panel.root.locator(".jxs-help").press("Escape")
    expect(panel.root.page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)


def test_the_whole_call_stack_is_shown_on_demand(panel: PanelOnPage) -> None:
    panel.reveal("jaxpr", "sqrt").locator(".jxs-num").click()
    panel.root.get_by_label("Whole call stack").click()
    expect(panel.root.locator(".jxs-stack")).to_contain_text(re.compile(r"In \[2\]:2\D.*In \[2\]:7\D"))
    panel.root.get_by_label("Whole call stack").click()


def test_full_screen_and_back(panel: PanelOnPage) -> None:
    narrow = panel.root.evaluate("root => root.clientWidth")
    panel.root.get_by_label("Full screen").click()
    panel.root.page.wait_for_function("was => document.querySelector('.jaxstage').clientWidth > was", arg=narrow)
    panel.root.get_by_label("Full screen").click()
    panel.root.page.wait_for_function("was => document.querySelector('.jaxstage').clientWidth === was", arg=narrow)


def test_copy_says_what_was_copied(panel: PanelOnPage) -> None:
    panel.pane("jaxpr").get_by_label("Copy this pane").click()
    expect(panel.root.locator(".jxs-message", has_text="Copied")).to_be_visible()
