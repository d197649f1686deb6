"""Panels, cells and open files point at each other's lines."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.cells import SETUP

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

HEAD = """
def head(h):
    p = jax.nn.softmax(h)
    return p * p
"""
FAR = "\n".join(f"far_{i} = {i}" for i in range(70))
LOSS = """
%%compile
def loss(w, x):
    h = jnp.tanh(x @ w)
    return jnp.sum(head(h))

loss(w, x)
"""
HEAD_CELL, LOSS_CELL = 1, 3
TANH, SUM, SOFTMAX = "h = jnp.tanh(x @ w)", "return jnp.sum(head(h))", "p = jax.nn.softmax(h)"
FRAMES_UNTIL_MARKED = """async text => {
    const frame = () => new Promise(requestAnimationFrame);
    const isMarked = () => !!document.querySelector('.jp-Notebook .cm-line.jaxstage-hover');
    const rows = [...document.querySelectorAll('.jaxstage [data-doc="jaxpr"] [data-row]')];
    const row = rows.find(one => one.textContent.includes(text));
    await frame();
    row.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
    let frames = 0;
    while (!isMarked() && frames < 1000) { await frame(); frames++; }
    row.closest('.jxs-code').dispatchEvent(new PointerEvent('pointerleave'));
    return frames;
}"""
SCROLLED = "() => document.querySelector('.jp-WindowedPanel-outer').scrollTop"
OPEN = """([path, factory]) =>
    window.jupyterapp.commands.execute('docmanager:open', {path, factory, options: {mode: 'split-right'}})"""


def cell(notebook: NotebookPage, index: int) -> Locator:
    return notebook.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')


def line(notebook: NotebookPage, index: int, text: str) -> Locator:
    return cell(notebook, index).locator(".cm-line", has_text=text).first


def marked(notebook: NotebookPage, kind: str = "line") -> list[str]:
    """Texts of all marked lines on the page, or of those of one kind."""
    return [text.strip() for text in notebook.page.locator(f".cm-line.jaxstage-{kind}").all_inner_texts()]


def expect_marked(notebook: NotebookPage, *texts: str, kind: str = "line") -> None:
    expect(notebook.page.locator(f".cm-line.jaxstage-{kind}")).to_have_text(texts)


def scrolled(notebook: NotebookPage) -> float:
    return float(notebook.page.evaluate(SCROLLED))


@pytest.fixture(scope="module")
def opened(module_notebook: Opener, lab: Server) -> NotebookPage:
    notebook = module_notebook(lab, [SETUP, HEAD, FAR, LOSS], height=1100)
    notebook.run_all()
    notebook.panel().show_panes("python", "jaxpr", "hlo")
    return notebook


@pytest.fixture
def notebook(opened: NotebookPage) -> Iterator[NotebookPage]:
    line(opened, LOSS_CELL, TANH).scroll_into_view_if_needed()
    yield opened
    opened.panel().clear()


def test_hovering_marks_the_line_in_its_cell_and_nothing_else(notebook: NotebookPage) -> None:
    panel = notebook.panel()
    panel.reveal("jaxpr", " = tanh").hover()
    expect_marked(notebook, TANH, kind="hover")
    assert "jaxstage-hue-0" in (line(notebook, LOSS_CELL, TANH).get_attribute("class") or "")
    assert marked(notebook) == [TANH]
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        panel.reveal("hlo", " tanh(").hover()
        expect_marked(notebook, TANH, kind="hover")
        notebook.screenshot(f"cell_lines_hover_{theme.lower()}")
    panel.clear()
    expect_marked(notebook)


def test_a_line_also_marks_weakly_what_it_calls_in_another_cell(notebook: NotebookPage) -> None:
    notebook.panel().row("python", SUM).hover()
    expect_marked(notebook, SUM, kind="hover")
    expect_marked(notebook, SOFTMAX, "return p * p", kind="called")


def test_a_line_is_marked_within_a_frame_of_the_hover(notebook: NotebookPage) -> None:
    panel, took = notebook.panel(), []
    for text in (" = tanh", " = mul", " = tanh", " = reduce_sum", " = tanh"):
        panel.reveal("jaxpr", text)
        took.append(notebook.page.evaluate(FRAMES_UNTIL_MARKED, text))
        expect_marked(notebook)
    assert max(took) <= 1, took


def test_a_click_on_its_place_scrolls_to_the_line_and_neither_a_hover_nor_a_selection_does(
    notebook: NotebookPage,
) -> None:
    panel, before = notebook.panel(), scrolled(notebook)
    panel.reveal("jaxpr", " = mul").hover()
    expect_marked(notebook, "return p * p", kind="hover")
    assert scrolled(notebook) == before
    panel.reveal("jaxpr", " = mul").locator(".jxs-num").click()
    assert scrolled(notebook) == before
    panel.root.locator(".jxs-words .jxs-link").first.click()
    expect(line(notebook, HEAD_CELL, "return p * p")).to_be_in_viewport()
    notebook.page.mouse.move(2, 2)
    expect_marked(notebook, "return p * p", kind="selected")
    notebook.screenshot("cell_lines_selected")


def test_the_caret_selects_its_line_in_the_panel_and_scrolls_nothing(notebook: NotebookPage) -> None:
    panel = notebook.panel()
    line(notebook, LOSS_CELL, TANH).click()
    panel.wait_lit("jaxpr", holding=" = tanh")
    before = scrolled(notebook)
    notebook.page.keyboard.press("ArrowDown")
    expect(panel.pane("python").locator(".jxs-selected .jxs-line")).to_have_text(f"    {SUM}")
    panel.wait_lit("jaxpr", holding=" = reduce_sum")
    assert scrolled(notebook) == before
    assert notebook.page.evaluate("() => document.activeElement.closest('.cm-editor') !== null")
    expect_marked(notebook, SUM, kind="selected")
    notebook.screenshot("cell_lines_caret")


def test_an_edit_takes_the_marks_away_until_it_is_undone_or_run(notebook: NotebookPage) -> None:
    page = notebook.page
    line(notebook, LOSS_CELL, TANH).click()
    expect_marked(notebook, TANH, kind="selected")
    page.keyboard.press("End")
    page.keyboard.type("  # edited")
    expect_marked(notebook)
    page.keyboard.press("Control+z")
    expect_marked(notebook, TANH, kind="selected")
    page.keyboard.type("  # run")
    expect_marked(notebook)
    notebook.command("notebook:run-cell")
    panel = notebook.panel()
    panel.show_panes("python", "jaxpr", "hlo")
    panel.reveal("jaxpr", " = tanh").hover()
    expect_marked(notebook, f"{TANH}  # run", kind="hover")


def test_the_gutter_shows_what_stands_beside_the_panel_s_lines(notebook: NotebookPage) -> None:
    panel, figures = notebook.panel(), cell(notebook, LOSS_CELL).locator(".jaxstage-gutter .jaxstage-figure")
    expect(figures).to_have_count(0)
    panel.root.get_by_label("annotate lines").select_option("FLOPs")
    expect(figures.first).to_be_visible()
    bar = panel.row("python", TANH).locator(".jxs-heat")
    assert figures.nth(0).get_attribute("title") == bar.get_attribute("title")
    assert f"{figures.nth(0).inner_text()} of what is known" in (bar.get_attribute("title") or "")
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        notebook.screenshot(f"cell_lines_gutter_{theme.lower()}")
    panel.root.get_by_label("annotate lines").select_option("memory")
    expect(figures.first).to_have_attribute("title", re.compile("of the bytes live at the peak"))
    line(notebook, LOSS_CELL, "%%compile").click()
    notebook.page.keyboard.type(" ")
    expect(figures).to_have_count(0)
    notebook.page.keyboard.press("Control+z")
    expect(figures.first).to_be_visible()
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('jaxstage:gutter', {measure: ''})")
    expect(figures).to_have_count(0)


def test_a_copy_of_the_notebook_is_not_marked(notebook: NotebookPage) -> None:
    copy = f"copy-{notebook.name}"
    notebook.save()
    shutil.copy(notebook.path, notebook.server.folder / copy)
    notebook.page.evaluate(OPEN, [copy, "Notebook"])
    expect(notebook.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .cm-line", has_text=TANH)).to_have_count(2)
    notebook.panel().reveal("jaxpr", " = tanh").hover()
    expect(notebook.page.locator(".cm-line.jaxstage-hover")).to_have_count(1)
    assert len(marked(notebook)) == 1


def test_notebook_7_marks_lines_too(open_notebook: Opener, notebook7: Server) -> None:
    notebook = open_notebook(notebook7, [SETUP, HEAD, LOSS])
    notebook.run_all()
    panel = notebook.panel()
    panel.show_panes("python", "jaxpr")
    panel.reveal("jaxpr", " = tanh").hover()
    expect_marked(notebook, TANH, kind="hover")
    line(notebook, 2, SUM).click()
    panel.wait_lit("jaxpr", holding=" = reduce_sum")


MODULE = """
import jax
import jax.numpy as jnp


def layer(x):
    y = jnp.cos(x)
    return jnp.sum(y * y)
"""


def test_files_that_are_open_in_the_editor_are_marked(open_notebook: Opener, lab: Server) -> None:
    (lab.folder / "layers_of_mine.py").write_text(MODULE)
    notebook = open_notebook(lab, [SETUP, "import layers_of_mine", "%compile layers_of_mine.layer(x)"], width=1800)
    notebook.run_all()
    panel = notebook.panel()
    notebook.page.evaluate(OPEN, ["layers_of_mine.py", "Editor"])
    opened = notebook.page.locator(".jp-FileEditor .cm-line", has_text="y = jnp.cos(x)")
    opened.wait_for()
    panel.show_panes("python", "jaxpr")
    panel.reveal("jaxpr", " = cos").hover()
    expect_marked(notebook, "y = jnp.cos(x)", kind="hover")
    notebook.screenshot("cell_lines_file")
    notebook.page.locator(".jp-FileEditor .cm-line", has_text="return jnp.sum").click()
    panel.wait_lit("jaxpr", holding=" = reduce_sum")
