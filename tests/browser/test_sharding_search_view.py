"""The tab of the search of layouts: the answer on the first screen, the way along the front, a compile, both themes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.legible import assert_legible
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

ROOT = str(Path(__file__).parents[2])
SETUP = f"""
import sys
sys.path.insert(0, {ROOT!r})
import jax.numpy as jnp, jaxstage_ext
from tests.helpers.made_searches import LAYOUTS, MadeSearch, found, keep, many

ins = jaxstage_ext.inspect(jnp.tanh, jnp.ones(8), stage="lower")
made = keep(ins.program, MadeSearch(found(LAYOUTS + many(324).layouts)))
made.opened = jaxstage_ext.inspect(jnp.tanh, jnp.ones(4), stage="lower").program
ins
"""
HEAD = "Take data × tensor: batch over data=4, heads and hidden over model=2, "


@pytest.fixture(scope="module")
def searched(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP], width=1400)
    opened.run_all()
    opened.panel().root.locator(".jxs-ss-detail").wait_for()
    return opened


@pytest.mark.parametrize(("theme", "width"), [("Light", 1400), ("Dark", 900)])
def test_the_first_screen_says_which_to_take_in_both_themes(searched: NotebookPage, theme: str, width: int) -> None:
    searched.theme(theme)
    searched.page.set_viewport_size({"width": width, "height": 1000})
    root = searched.panel().root
    settle(root)
    expect(root.locator(".jxs-headline")).to_contain_text(HEAD, use_inner_text=True)
    assert root.locator(".jxs-ss-list tbody tr").count() > 5
    searched.screenshot(f"sharding search {theme} {width}")
    assert_legible(root)
    searched.theme("Light")
    searched.page.set_viewport_size({"width": 1400, "height": 1000})


def test_arrows_go_along_the_front_and_a_layout_is_compiled_and_opened(searched: NotebookPage) -> None:
    root = searched.panel().root
    root.locator(".jxs-ss-list button").first.click()
    expect(root.locator(".jxs-ss-detail h3")).to_contain_text("data × tensor", use_inner_text=True)
    root.locator(".jxs-ss-map canvas").last.focus()
    searched.page.keyboard.press("ArrowRight")
    expect(root.locator(".jxs-ss-detail h3")).not_to_contain_text("heads and hidden", use_inner_text=True)
    searched.page.keyboard.press("Home")
    expect(root.locator(".jxs-ss-detail h3")).to_contain_text("heads and hidden", use_inner_text=True)
    root.get_by_role("button", name="Compile it").click()
    expect(root.locator(".jxs-ss-head")).to_contain_text("Compiled, it fits: 6.3 GB needed", use_inner_text=True)
    times = root.get_by_role("table", name="where the time of one call goes")
    expect(times).to_contain_text("compiled", use_inner_text=True)
    searched.screenshot("sharding search compiled")
    root.locator(".jxs-ss-map canvas").last.focus()
    searched.page.keyboard.press("Enter")
    root.locator(".jxs-picker option").nth(1).wait_for(state="attached")
