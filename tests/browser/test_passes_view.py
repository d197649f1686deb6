"""The passes tab: a list, what each pass did side by side, an instruction followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.cells import SETUP
from tests.browser.legible import assert_legible
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

LAYER = """
def norm(x, gain):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6) * gain

def loss(p, x):
    hidden = jnp.tanh(norm(x, p["gain"]) @ p["up"])
    return jnp.mean((hidden @ p["down"] - x) ** 2)

p = {"gain": jnp.ones(32), "up": jnp.ones((32, 64)), "down": jnp.ones((64, 32))}
"""
STEP = "%compile jax.grad(loss)(p, jnp.ones((8, 32)))"


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, LAYER, STEP], width=1700, height=1100)
    opened.run_all()
    opened.panel().tab("passes").click()
    opened.panel().root.locator("[data-shown]").wait_for()
    return opened


@pytest.fixture
def panel(notebook: NotebookPage) -> Iterator[PanelOnPage]:
    panel = notebook.panel()
    panel.tab("passes").click()
    yield panel
    panel.tab("passes").click()
    if panel.root.get_by_label("Stop following").count():
        panel.root.get_by_label("Stop following").first.click()
    panel.root.get_by_label(re.compile("Filter passes")).fill("")


def passes(panel: PanelOnPage) -> Locator:
    return panel.root.locator("[data-pass]")


def open_pass(panel: PanelOnPage, name: str) -> str:
    row = panel.root.locator(f'[data-pass]:has(.jxs-pass-name:text-is("{name}"))').first
    row.click()
    index = row.get_attribute("data-pass")
    panel.root.locator(f'[data-shown="{index}"] .jxs-diff-after [data-row]').first.wait_for()
    return str(index)


def half(panel: PanelOnPage, name: str) -> Locator:
    return panel.root.locator(f".jxs-diff-{name}")


def grounds(panel: PanelOnPage) -> list[str]:
    """The colours of the rows that a pass removed."""
    read = "diff => [...diff.querySelectorAll('.jxs-d-gone')].map(row => getComputedStyle(row).backgroundImage)"
    colours: list[str] = half(panel, "before").evaluate(read)
    return colours


def test_a_selection_leaves_the_rows_the_colours_of_what_the_pass_did(panel: PanelOnPage) -> None:
    open_pass(panel, "algsimp")
    before = grounds(panel)
    assert before
    half(panel, "before").locator(".jxs-d-gone .jxs-num").first.click()
    half(panel, "before").locator(".jxs-d-gone.jxs-strong").first.wait_for()
    settle(panel.root)
    assert set(grounds(panel)) == set(before)
    half(panel, "before").locator(".jxs-code").press("Escape")


def test_the_list_hides_what_changed_nothing(panel: PanelOnPage) -> None:
    changed = passes(panel).count()
    assert 5 < changed < 60
    toggle = panel.root.get_by_role("button", name=re.compile("unchanged"))
    idle = int(re.sub(r"\D", "", toggle.inner_text()))
    toggle.click()
    expect(passes(panel)).to_have_count(changed + idle)
    toggle.click()
    expect(passes(panel)).to_have_count(changed)
    assert re.search(rf"{changed} of them changed", panel.root.locator(".jxs-pass-foot").inner_text())


def test_the_filter_takes_letters_in_their_order(panel: PanelOnPage) -> None:
    panel.root.get_by_label(re.compile("Filter passes")).fill("fswrp")
    panel.root.locator("[data-pass]", has_text="fusion-wrapper").wait_for()
    expect(passes(panel)).to_have_count(1)


def test_arrows_move_among_the_passes(panel: PanelOnPage) -> None:
    passes(panel).first.click()
    panel.root.locator(".jxs-pass-list").press("ArrowDown")
    second = passes(panel).nth(1)
    panel.root.locator(f'[data-shown="{second.get_attribute("data-pass")}"]').wait_for()
    expect(second).to_have_attribute("aria-selected", "true")


def test_dead_code_elimination_shows_removed_lines_alone(panel: PanelOnPage) -> None:
    open_pass(panel, "dce")
    half(panel, "before").locator(".jxs-d-gone").first.wait_for()
    assert not half(panel, "after").locator(".jxs-d-gone, .jxs-d-changed").count()
    expect(panel.root.locator(".jxs-diff-counts")).to_contain_text("removed", use_inner_text=True)
    expect(half(panel, "before").locator(".jxs-diff-fold").first).to_contain_text(
        "unchanged lines", use_inner_text=True
    )


def test_a_fold_opens(panel: PanelOnPage) -> None:
    open_pass(panel, "dce")
    folds = half(panel, "before").locator(".jxs-diff-fold")
    expect(folds.first).to_be_visible()
    text = folds.first.inner_text()
    folds.first.click()
    panel.root.page.wait_for_function(
        "([list, text]) => ![...list.querySelectorAll('.jxs-diff-fold')].some(f => f.innerText === text)",
        arg=[half(panel, "before").element_handle(), text],
    )


def test_both_sides_scroll_as_one_and_keys_step_through_changes(panel: PanelOnPage) -> None:
    open_pass(panel, "fusion")
    left, right = (half(panel, name).locator(".jxs-code") for name in ("before", "after"))
    right.press("n")
    right.press("n")
    panel.root.locator(".jxs-diff-head .jxs-hits", has_text=re.compile(r"^\d+ / \d+$")).wait_for()
    both = [left.element_handle(), right.element_handle()]
    panel.root.page.wait_for_function("([left, right]) => left.scrollTop === right.scrollTop", arg=both)
    to = left.evaluate("list => { list.scrollTop = 200; return list.scrollTop; }")
    panel.root.page.wait_for_function("([list, to]) => list.scrollTop === to", arg=[both[1], to])
    assert left.evaluate("list => list.scrollTop") == to


def test_the_selection_is_shared_by_both_sides_and_the_code(panel: PanelOnPage) -> None:
    open_pass(panel, "fusion")
    row = half(panel, "after").locator(".jxs-coloured.jxs-d-moved").first
    row.locator(".jxs-num").click()
    half(panel, "after").locator(".jxs-selected").wait_for()
    where = panel.root.locator(".jxs-words .jxs-link").inner_text()
    panel.tab("code").click()
    assert panel.wait_lit("python")
    assert where in panel.detail()


def test_an_instruction_is_followed_from_the_code(panel: PanelOnPage, notebook: NotebookPage) -> None:
    panel.tab("code").click()
    panel.show_panes("python", "hlo")
    panel.clear()
    row = panel.reveal("hlo", " tanh(")
    row.locator(".jxs-num").click()
    panel.root.get_by_role("button", name="follow through the passes").click()
    following = panel.root.locator(".jxs-following code")
    following.wait_for()
    expect(following).to_contain_text("tanh(", use_inner_text=True)
    panel.root.locator("[data-pass] .jxs-badge").first.wait_for()
    what = panel.root.locator("[data-pass] .jxs-badge").all_inner_texts()
    assert set(what) <= {"appeared", "changed", "moved", "copied", "merged", "removed"}
    half(panel, "after").locator(".jxs-selected").first.wait_for()
    notebook.screenshot("passes_followed_light")
    panel.root.get_by_label("Stop following (Esc)").click()
    expect(panel.root.locator("[data-pass] .jxs-badge")).to_have_count(0)


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_in_both_themes(panel: PanelOnPage, notebook: NotebookPage, theme: str) -> None:
    notebook.theme(theme)
    for name in ("fusion", "layout-assignment"):
        open_pass(panel, name)
        notebook.screenshot(f"passes_{name}_{theme.lower()}")
        assert_legible(panel.root)
    notebook.theme("Light")
