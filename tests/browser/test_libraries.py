"""Whose lines count: the user's, or a library's too, whose source has a pane of its own; and the stack between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.cells import SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

MODEL = """
import flax.linen as nn

class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.Dense(64)(x)
        h = nn.LayerNorm()(h)
        h = nn.gelu(h)
        return nn.Dense(4)(h)

model = Classifier()
params = model.init(jax.random.key(0), x)
"""
APPLY = "%compile -o ins model.apply(params, x)"
COLOUR = "row => row.style.getPropertyValue('--jxs-h') + ' ' + row.style.getPropertyValue('--jxs-tone')"


def test_the_lines_of_a_library(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, MODEL, APPLY], width=1600)
    notebook.run_all()
    panel = notebook.panel()
    panel.show_panes("python", "jaxpr", "hlo")
    panel.reveal("jaxpr", " = rsqrt").hover()
    panel.wait_lit("python", holding="nn.LayerNorm()(h)")
    calls = panel.root.locator(".jxs-calls")
    expect(calls).to_contain_text("__call__")
    expect(calls).to_contain_text("normalization.py")
    notebook.screenshot("library-stack-light")
    panel.root.get_by_label("lines of").select_option("flax")
    expect(panel.pane("python:flax")).to_have_attribute("data-ready", "true")
    row = panel.reveal("jaxpr", " = rsqrt")
    row.locator(".jxs-num").click()
    lit = panel.wait_lit("python:flax")
    assert any("rsqrt" in line for line in lit), lit
    assert not panel.lit("python")
    assert panel.reveal("python:flax", "lax.rsqrt(").evaluate(COLOUR) == row.evaluate(COLOUR)
    notebook.screenshot("library-pane-light")
    notebook.theme("Dark")
    notebook.screenshot("library-pane-dark")
    notebook.theme("Light")
    panel.clear()
    panel.root.get_by_label("lines of").select_option("")
    expect(panel.pane("python:flax")).to_have_count(0)
    panel.reveal("jaxpr", " = rsqrt").hover()
    panel.wait_lit("python", holding="nn.LayerNorm()(h)")


def test_a_frame_of_the_stack_opens_its_library(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, MODEL, APPLY], width=900)
    notebook.run_all()
    panel = notebook.panel()
    panel.pane("hlo").scroll_into_view_if_needed()
    panel.reveal("hlo", " rsqrt(").locator(".jxs-num").click()
    notebook.screenshot("library-stack-narrow")
    panel.root.locator(".jxs-calls").get_by_text("normalization.py").first.click()
    expect(panel.pane("python:flax")).to_have_attribute("data-ready", "true")
    notebook.screenshot("library-pane-narrow")
