"""The machine code tab: kernels, their stages side by side, and the way there and back from the code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from absent import needs, unavailable
from playwright.sync_api import expect

from jaxstage_ext.core.targets import packages
from tests.browser.cells import LOSS, SETUP
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

FOR_H100 = LOSS.replace("%%compile -o ins", "%%compile -t h100")


def open_machine(panel: PanelOnPage) -> None:
    panel.tab("machine").click()
    panel.root.locator(".jxs-kernel-rows").wait_for()


@pytest.fixture(scope="module")
def loss(module_notebook: Opener, lab: Server) -> PanelOnPage:
    """The panel of a small function, for this machine."""
    opened = module_notebook(lab, [SETUP, LOSS])
    opened.run_all()
    return opened.panel()


@pytest.fixture
def panel(loss: PanelOnPage) -> PanelOnPage:
    loss.tab("code").click()
    loss.clear()
    return loss


def test_kernels_their_code_and_their_lines(panel: PanelOnPage) -> None:
    row = panel.reveal("hlo", "%broadcast_divide_fusion = ")
    row.locator(".jxs-num").click()
    panel.root.locator(".jxs-to-machine").click()
    panel.root.locator(".jxs-kernel-rows").wait_for()
    current = panel.root.locator(".jxs-kernel.jxs-current")
    expect(current).to_have_attribute("data-kernel", "broadcast_divide_fusion")
    for doc, text in (("llvm", "define"), ("asm", "div")):
        panel.root.locator(f'[data-doc="{doc}:broadcast_divide_fusion"][data-ready="true"]').wait_for()
        panel.reveal(f"{doc}:broadcast_divide_fusion", text)
    current.locator(".jxs-number", has_text="25").first.wait_for()
    panel.root.locator(".jxs-kernel", has_text="no kernel of its own").first.click()
    panel.root.locator(".jxs-lack", has_text="a library or XLA's runtime").first.wait_for()
    panel.tab("code").click()
    assert any("ynn_fusion" in line or "dot" in line for line in panel.wait_lit("hlo", "selected"))


def test_a_source_line_offers_the_kernels_that_came_from_it(panel: PanelOnPage) -> None:
    panel.row("python", "jax.nn.softmax(h)").locator(".jxs-num").click()
    open_machine(panel)
    expect(panel.root.locator(".jxs-kernel.jxs-current.jxs-lit"), "the open kernel is one of the line's").to_have_count(
        1
    )
    every = panel.root.locator(".jxs-kernel[data-kernel]").count()
    offered = panel.root.locator(".jxs-from")
    offered.click()
    expect(offered).to_contain_text(re.compile(r"^\d+ kernel"), use_inner_text=True)
    settle(panel.root)
    shown = panel.root.locator(".jxs-kernel[data-kernel]").count()
    assert offered.inner_text().startswith(f"{shown} kernel")
    assert 0 < shown <= every


@pytest.fixture(scope="module")
def for_h100(module_notebook: Opener, lab: Server) -> NotebookPage:
    needs("h100")
    if not packages.nvdisasm():
        unavailable("nvdisasm is not installed")
    opened = module_notebook(lab, [SETUP, FOR_H100], width=1600)
    opened.run_all()
    return opened


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_ptx_beside_sass(for_h100: NotebookPage, theme: str) -> None:
    opened, panel = for_h100, for_h100.panel()
    opened.theme(theme)
    open_machine(panel)
    kernel = panel.root.locator(".jxs-kernel.jxs-current").get_attribute("data-kernel")
    for stage in ("ptx", "sass"):
        panel.root.locator(f'[data-doc="{stage}:{kernel}"][data-ready="true"]').wait_for()
    load = panel.reveal(f"sass:{kernel}", "LDG")
    load.locator(".jxs-num").click()
    paired = panel.pane(f"ptx:{kernel}").locator(".jxs-row.jxs-paired").first
    paired.wait_for()
    assert "ld." in paired.inner_text() or "cp.async" in paired.inner_text()
    panel.root.locator(".jxs-number", has_text="0").first.wait_for()
    opened.theme("Light")
