"""`%compiles` in a real notebook: what to do first, the strip, the list, one record; saved, and without a kernel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.legible import assert_legible
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

SETUP = "%load_ext jaxstage_ext\nimport jax, jax.numpy as jnp, jaxstage_ext"
FIRST = """
@jax.jit
def step(x, scale):
    for _ in range(30):  # by far the dearest, however busy the machine is
        x = jnp.tanh(x @ x.T)
    return (x * scale).sum()
step(jnp.ones((8, 8)), 2.0)
"""
AGAIN = "for n in (4, 5, 6): step(jnp.ones((n, n)), 2.0)"
LAMBDAS = "for i in range(3): jax.jit(lambda x: x * 2 + i)(jnp.ones(3))"
WRITTEN = "jaxstage_ext.compiles().to_html('compiles.html')"
CELLS = [SETUP, FIRST, AGAIN, LAMBDAS, "%compiles all", WRITTEN]
HEADLINE = re.compile(r"step compiled again 3 times, [\d.]+ m?s in all; #\d+: x is f32\[\d,\d\], was f32\[\d,\d\]")


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, CELLS)
    opened.run_all()
    caused(opened.panel().root)
    return opened


def caused(panel: Locator) -> None:
    panel.locator(".jxs-co-worst").wait_for()
    panel.locator(".jxs-co-differences").wait_for()
    panel.scroll_into_view_if_needed()


@pytest.fixture
def panel(notebook: NotebookPage) -> Locator:
    return notebook.panel().root


def numbers(panel: Locator) -> list[int]:
    texts: list[str] = panel.locator(".jxs-co-list [data-row] > :first-child").all_inner_texts()
    return [int(text) for text in texts]


def chosen(panel: Locator) -> int:
    label = panel.locator(".jxs-co-detail").get_attribute("aria-label") or ""
    return int(label.removeprefix("compile "))


def test_it_is_headed_by_the_dearest_recompile_and_what_to_do(panel: Locator) -> None:
    expect(panel.locator(".jxs-co-verdict")).to_have_text(HEADLINE)
    assert panel.locator(".jxs-co-todo").inner_text()
    expect(panel.locator('[role="tab"]'), "a view of the kernel has no code, cost or memory").to_have_count(0)
    rows = panel.locator(".jxs-co-list [data-row]").all_inner_texts()
    assert sum("step" in row for row in rows) == 4
    assert sum("<lambda>" in row for row in rows) == 3


def test_a_click_on_the_strip_chooses_a_record_and_arrows_go_on(panel: Locator) -> None:
    strip = panel.locator(".jxs-co-strip")
    strip.click(position={"x": 4, "y": 6})
    expect(panel.locator('.jxs-co-list [aria-selected="true"]')).to_have_count(1)
    settle(panel)
    first = chosen(panel)
    strip.press("ArrowRight")
    expect(panel.locator(".jxs-co-detail")).to_have_attribute("aria-label", f"compile {first + 1}")
    strip.press("End")
    settle(panel)
    last = chosen(panel)
    assert last == max(numbers(panel)) or last > first + 1
    strip.hover(position={"x": 4, "y": 6})
    expect(panel.locator(".jxs-tip")).to_contain_text(f"#{first}")


def test_a_row_marks_its_line_in_the_cell_that_ran_it(notebook: NotebookPage, panel: Locator) -> None:
    panel.locator(".jxs-co-list [data-row]").last.click()
    marked = notebook.page.locator(".cm-line.jaxstage-selected")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("jit", use_inner_text=True)
    panel.locator(".jxs-co-list .jxs-grid").press("Home")
    expect(marked).to_have_count(1)


def test_the_list_is_filtered_and_narrowed(panel: Locator) -> None:
    box = panel.locator('.jxs-co-bar input[type="search"]')
    box.fill("lambda")
    expect(panel.locator(".jxs-co-list [data-row]")).to_have_count(3)
    panel.locator('[data-toggle="recompiles"]').click()
    expect(panel.locator(".jxs-co-list [data-row]")).to_have_count(2)
    box.fill("")
    expect(panel.locator(".jxs-co-list [data-row]")).to_have_count(5)
    panel.locator('[data-toggle="recompiles"]').click()


def test_what_was_compiled_since_comes_with_a_refresh(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, FIRST, "%compiles all", "step(jnp.ones((3, 3)), 2.0)"])
    notebook.run_all()
    panel = notebook.panel().root
    panel.locator(".jxs-co-list [data-row]").first.wait_for()
    notebook.wait_idle()
    before = max(numbers(panel))
    panel.get_by_role("button", name="Refresh").click()
    expect(panel.locator(".jxs-co-verdict")).to_contain_text("step compiled again once")
    assert max(numbers(panel)) > before, "the refresh brings the list and its verdict at once"


def test_two_compiles_are_compared_line_by_line(notebook: NotebookPage, panel: Locator) -> None:
    box = panel.locator('.jxs-co-bar input[type="search"]')
    box.fill("f32[5,5] f32[4,4]")
    expect(panel.locator(".jxs-co-list [data-row]")).to_have_count(1)
    panel.locator(".jxs-co-list [data-row]").first.click()
    panel.get_by_role("button", name=re.compile("Compare with")).click()
    panel.locator('[data-kind="stablehlo"]').click()
    expect(panel.locator('.jxs-differing-line[data-what="removed"]').first).to_contain_text("tensor<4x4xf32>")
    expect(panel.locator('.jxs-differing-line[data-what="added"]').first).to_contain_text("tensor<5x5xf32>")
    notebook.screenshot("compiles-compared")
    assert violations(panel) == []
    panel.get_by_role("button", name="Back to the list").click()
    expect(panel.locator(".jxs-co-list [data-row]")).to_have_count(1)
    box.fill("")


def test_a_record_opens_without_a_compile(open_notebook: Opener, lab: Server) -> None:
    counted = "len(jaxstage_ext.compiles().records)"
    notebook = open_notebook(lab, [SETUP, FIRST, AGAIN, counted, "%compiles all"])
    notebook.run_all()
    panel = notebook.panel().root
    caused(panel)
    before = notebook.page.locator(".jp-OutputArea-executeResult pre").nth(1).inner_text()
    panel.get_by_role("button", name="Open", exact=True).click()
    expect(panel.locator(".jxs-signature")).to_contain_text("step(")
    panel.locator('[role="tab"][data-view="code"]').click()  # the recompile is a finding, which opens
    panel.locator('[data-doc="python"]').wait_for()
    expect(panel.locator('[role="tab"]').nth(3)).to_be_visible()
    notebook.screenshot("compiles-opened")
    panel.locator(".jxs-picker").select_option("0")
    panel.locator(".jxs-compiles").wait_for()
    panel.get_by_role("button", name="Refresh").click()
    expect(panel.locator(".jxs-co-totals")).to_contain_text(f"{before} records")


@pytest.mark.parametrize("width", [1400, 900])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_it_can_be_read_in_both_themes_and_widths(
    notebook: NotebookPage, panel: Locator, theme: str, width: int
) -> None:
    notebook.page.set_viewport_size({"width": width, "height": 1000})
    notebook.theme(theme)
    panel.scroll_into_view_if_needed()
    notebook.screenshot(f"compiles-{width}-{theme}")
    assert_legible(panel)
    assert violations(panel) == []
    notebook.theme("Light")
    notebook.page.set_viewport_size({"width": 1400, "height": 1000})


@pytest.fixture(scope="module")
def saved(notebook: NotebookPage) -> Path:
    notebook.save()
    return notebook.path


def test_a_saved_notebook_shows_the_list_without_a_kernel(saved: Path, lab: Server, open_notebook: Opener) -> None:
    copy = saved.with_name("compiles-copy.ipynb")
    copy.write_bytes(saved.read_bytes())
    opened = open_notebook(lab, copy.name)
    panel = opened.panel().root
    caused(panel)
    expect(panel.locator(".jxs-co-verdict")).to_have_text(HEADLINE)
    assert len(numbers(panel)) >= 7
    expect(panel.get_by_role("button", name="Refresh")).to_have_count(0)
    expect(panel.get_by_role("button", name="Open")).to_have_count(0)


def test_the_offline_page_is_the_same_panel(saved: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    trouble: list[str] = []
    page.on("request", lambda request: trouble.append(request.url) if request.url.startswith("http") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(saved.with_name("compiles.html").as_uri())
    panel = page.locator(".jaxstage")
    caused(panel)
    expect(panel.locator(".jxs-co-verdict")).to_have_text(HEADLINE)
    panel.locator(".jxs-co-list [data-row]").nth(1).click()
    expect(panel.locator(".jxs-co-facts")).to_contain_text("trace")
    assert not trouble
    page.close()
