"""Several targets in one panel: the comparison opens first, sorts, explains, and leads to each target's code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absent import needs
from playwright.sync_api import expect

from tests.browser.cells import SETUP
from tests.browser.legible import assert_legible

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import PanelOnPage
    from tests.browser.servers import Server

THREE_TARGETS = """
%%compile -t local -t cpu:2 -t cpu:4
def loss(w, x):
    jax.debug.callback(lambda v: None, x)
    return jnp.sum(jnp.tanh(x @ w))

loss(w, x)
"""
ON_A_MESH = """
%%compile -t cpu:4 -t v5e:2x2 --mesh data=4 --in-spec "x=P('data')"
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))

loss(w, x)
"""


def targets(panel: PanelOnPage) -> list[str]:
    return panel.root.locator(".jxs-compared").evaluate_all("rows => rows.map(row => row.dataset.target)")


def test_targets_side_by_side(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, THREE_TARGETS], width=1500)
    notebook.run_all()
    panel = notebook.panel()
    panel.root.locator(".jxs-compared").nth(2).wait_for()
    expect(panel.tab("compare")).to_have_attribute("aria-selected", "true")
    assert targets(panel) == ["local", "cpu:2", "cpu:4"]

    cell = panel.root.locator('[data-target="cpu:2"] td.jxs-unknown').last
    cell.hover()
    panel.root.locator(".jxs-compare-why", has_text=re.compile("on cpu:2: unknown, ")).wait_for()

    panel.root.locator('[data-column="compile"] button').click()
    panel.root.locator('[data-column="compile"][aria-sort="ascending"]').wait_for()
    assert panel.root.locator(".jxs-compared").last.locator(".jxs-worst").count() >= 1
    notebook.screenshot("compare_light")
    assert_legible(panel.root)
    notebook.theme("Dark")
    notebook.page.locator("#jupyterlab-splash").wait_for(state="hidden")
    notebook.screenshot("compare_dark")
    assert_legible(panel.root)
    notebook.theme("Light")

    panel.root.locator('[data-target="cpu:4"] .jxs-link').press("Enter")
    panel.root.locator('[data-doc="hlo"][data-ready="true"]').wait_for()
    assert panel.root.locator(".jxs-target").inner_text().startswith("cpu:4")
    panel.tab("compare").click()
    panel.root.locator('[data-target="cpu:4"][aria-current="true"]').wait_for()
    scroll = panel.root.locator(".jxs-compare-scroll").evaluate("box => box.scrollWidth >= box.clientWidth")
    assert scroll
    assert panel.root.evaluate("root => root.scrollWidth <= root.clientWidth + 1")


def test_a_tpu_that_is_not_here_beside_cpus(open_notebook: Opener, lab: Server) -> None:
    needs("v5e:2x2")
    notebook = open_notebook(lab, [SETUP, ON_A_MESH], width=1500)
    notebook.run_all()
    panel = notebook.panel()
    panel.root.locator('[data-target="v5e:2x2"] .jxs-cell', has_text="yes").wait_for()
    assert panel.root.locator('[data-target="cpu:4"]').get_by_text("1", exact=True).count()
    notebook.screenshot("compare_mesh")


VERSIONS = """
%%compile -q -o before
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))

loss(w, x)
"""
NOW = """
%%compile --vs before
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w) * jnp.exp(x @ w))

loss(w, x)
"""


def test_a_version_beside_the_one_before(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, VERSIONS, NOW], width=1400)
    notebook.run_all()
    panel = notebook.panel()
    panel.root.locator(".jxs-compared").nth(1).wait_for()
    assert targets(panel) == ["local", "before"]
    expect(panel.root.locator(".jxs-headline")).to_contain_text("orse than before")
    panel.root.locator('.jxs-differing-line[data-what="added"]', has_text="* jnp.exp(x @ w)").wait_for()
    panel.root.locator(".jxs-toggle", has_text="StableHLO").click()
    panel.root.locator('.jxs-differing-line[data-what="added"]', has_text="stablehlo.exponential").wait_for()
    expect(panel.root.locator('.jxs-differing-line[data-what="removed"]', has_text="exponential")).to_have_count(0)
    notebook.screenshot("compare_versions_light")
    assert_legible(panel.root)
    notebook.theme("Dark")
    notebook.page.locator("#jupyterlab-splash").wait_for(state="hidden")
    notebook.screenshot("compare_versions_dark")
    assert_legible(panel.root)
    notebook.theme("Light")
    panel.root.locator('[data-target="before"] .jxs-link').press("Enter")
    panel.root.locator('[data-doc="hlo"][data-ready="true"]').wait_for()
    assert panel.root.locator(".jxs-target").inner_text().startswith("cpu")
    expect(panel.pane("hlo").get_by_text("exponential")).to_have_count(0)
