"""A narrow window, or a zoomed one: what one came for is on the screen, below little else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.cells import LOSS, SETUP
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

MOST_HEAD = 160
"""Pixels above the first line of code."""
SCROLLING = """view => [view, ...view.querySelectorAll('*')].filter(one => {
    const how = getComputedStyle(one).overflowY;
    return (how === 'auto' || how === 'scroll') && one.scrollHeight > one.clientHeight + 1;
}).map(one => one.className)"""


@pytest.fixture(scope="module")
def narrow(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, LOSS], width=900, height=800)
    opened.run_all()
    return opened


def test_the_code_begins_near_the_top_and_the_head_unfolds(narrow: NotebookPage) -> None:
    panel = narrow.panel()
    panel.tab("code").click()
    settle(panel.root)
    code = panel.pane("python").locator(".jxs-code")
    assert below_top(code, panel.root) <= MOST_HEAD
    narrow.screenshot("narrow code")
    count = panel.root.locator(".jxs-stage-count").first
    expect(count).to_be_hidden()
    panel.root.get_by_role("button", name="Whole header").click()
    expect(count).to_be_visible()
    panel.root.get_by_role("button", name="Whole header").click()
    expect(count).to_be_hidden()


def test_the_cost_table_is_on_a_zoomed_screen(narrow: NotebookPage) -> None:
    narrow.page.set_viewport_size({"width": 933, "height": 600})
    panel = narrow.panel()
    panel.tab("cost").click()
    row = panel.root.locator(".jxs-grid-row[data-row]").first
    row.wait_for()
    panel.root.evaluate("root => root.scrollIntoView()")
    box = row.bounding_box()
    assert box is not None and box["y"] + box["height"] < 600 - 25, "above the status bar"
    narrow.page.set_viewport_size({"width": 900, "height": 800})


def test_memory_has_one_scroll_bar(narrow: NotebookPage) -> None:
    panel = narrow.panel()
    panel.tab("memory").click()
    panel.root.locator(".jxs-mem-table [data-row]").first.wait_for()
    settle(panel.root)
    narrow.screenshot("narrow memory")
    assert len(panel.root.locator(".jxs-view").evaluate(SCROLLING)) <= 1


def below_top(inner: object, outer: object) -> float:
    boxes = [one.bounding_box() for one in (inner, outer)]  # type: ignore[attr-defined]
    return float(boxes[0]["y"] - boxes[1]["y"])
