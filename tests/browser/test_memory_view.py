"""The memory tab: the headline, the picture, what lives at a moment, a click that selects its line everywhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from jaxstage_ext.core import packages
from tests.browser.cells import SETUP

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

LAYERS = """
def layer(p, x):
    h = jax.nn.gelu(x @ p["up"])
    return x + h @ p["down"]

def loss(ps, x):
    for p in ps:
        x = layer(p, x)
    return jnp.mean(x ** 2)

def step(ps, x):
    value, g = jax.value_and_grad(loss)(ps, x)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, ps, g)

ps = [{"up": jnp.ones((256, 1024)), "down": jnp.ones((1024, 256))} for _ in range(4)]
"""
STEP = "%compile step(ps, jnp.ones((512, 256)))"
LARGE = """
%%compile -t v5e:2x2 --args "f32[131072,16384], f32[16384,16384]"
def large(x, w):
    y = jnp.tanh(x @ w)
    return (y * (jnp.sin(x) @ w)).sum(), jnp.cumsum(y, 0)
"""


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, LAYERS, STEP], width=1500, height=1300)
    opened.run_all()
    opened.panel().tab("memory").click()
    opened.panel().root.locator(".jxs-mem-table tbody tr").first.wait_for()
    return opened


@pytest.fixture
def panel(notebook: NotebookPage) -> PanelOnPage:
    panel = notebook.panel()
    panel.tab("memory").click()
    part(panel, "at")
    return panel


def part(panel: PanelOnPage, name: str) -> None:
    panel.root.locator(f'[data-part="{name}"]').click()


def rows(panel: PanelOnPage) -> Locator:
    return panel.root.locator(".jxs-mem-part tbody tr")


def test_the_headline_says_whether_it_fits(panel: PanelOnPage) -> None:
    assert re.search(r"✓ Fits: it needs [\d.]+ MB of the", panel.root.locator(".jxs-mem-fit").inner_text())
    assert panel.root.locator(".jxs-mem-peak").inner_text().strip() == "the peak"


def test_a_row_that_is_pointed_at_shows_its_life(panel: PanelOnPage, notebook: NotebookPage) -> None:
    residual = (
        rows(panel).filter(has_text="kept for the backward pass").or_(rows(panel).filter(has_text="residual")).first
    )
    residual.hover()
    notebook.screenshot("memory-row")
    residual.click()
    panel.tab("code").click()
    assert panel.wait_lit("python")


def test_the_picture_tells_what_the_pointer_is_on(panel: PanelOnPage, notebook: NotebookPage) -> None:
    canvas = panel.root.locator(".jxs-mem-canvas")
    box = canvas.bounding_box()
    assert box
    canvas.hover(position={"x": box["width"] / 2, "y": box["height"] - 8})
    told = panel.root.locator(".jxs-mem-about")
    assert re.search(r"ps\D|argument|output", told.inner_text()) and "live at" in told.inner_text()
    notebook.screenshot("memory-hover")


def test_keys_move_along_the_schedule(panel: PanelOnPage) -> None:
    canvas = panel.root.locator(".jxs-mem-canvas")
    canvas.press("Home")
    panel.root.locator(".jxs-mem-moment", has_text="live at 0").wait_for()
    canvas.press("ArrowRight")
    panel.root.locator(".jxs-mem-moment", has_text="live at 1").wait_for()
    panel.root.get_by_role("button", name="Go to the peak").click()
    panel.root.locator(".jxs-mem-peak").wait_for()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("advice", "Not donated"),
        ("arguments", "ps[0]['down']"),
        ("results", "result[1][0]['down']"),
        ("checks", "reserved"),
        ("constants", "nothing to list"),
    ],
)
def test_the_tables(panel: PanelOnPage, notebook: NotebookPage, name: str, text: str) -> None:
    part(panel, name)
    assert text in panel.root.locator(".jxs-mem-part").inner_text()
    notebook.screenshot(f"memory-{name}")


def test_what_the_backward_pass_keeps(panel: PanelOnPage, notebook: NotebookPage) -> None:
    part(panel, "backward")
    panel.root.locator(".jxs-mem-backward tbody tr", has_text="nothing_saveable").wait_for()
    notebook.screenshot("memory-backward")
    panel.root.locator(".jxs-mem-backward tbody tr", has_text="dots_saveable").last.click()
    panel.root.locator("h4", has_text="with dots_saveable").wait_for()


def test_both_themes(panel: PanelOnPage, notebook: NotebookPage) -> None:
    notebook.theme("Dark")
    notebook.page.wait_for_timeout(300)
    notebook.screenshot("memory-dark")
    notebook.theme("Light")
    notebook.page.wait_for_timeout(300)
    notebook.screenshot("memory-light")


def test_a_compile_that_runs_out_of_memory_opens_on_what_takes_it(open_notebook: Opener, lab: Server) -> None:
    if lacks := packages.find("tpu").lacks:
        pytest.skip(f"v5e:2x2 {lacks}")
    opened = open_notebook(lab, [SETUP, LARGE], width=1500, height=1100)
    opened.run_all()
    panel = opened.panel()
    panel.root.locator(".jxs-mem-fit-no").wait_for(timeout=120_000)
    assert "Does not fit: it needs 26.8 GB" in panel.root.locator(".jxs-mem-fit").inner_text()
    assert "VMEM" in panel.root.locator(".jxs-mem-spaces").inner_text()
    rows(panel).filter(has_text="temporary").first.click()
    opened.screenshot("memory-too-large")
    panel.tab("code").click()
    assert panel.wait_lit("python", "selected") == ["y = jnp.tanh(x @ w)"]
