"""The magic `%dimensions` in JupyterLab, and the tab: chips, the axes of arguments, what splitting each alone costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.legible import assert_legible
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

SETUP = """
%load_ext jaxstage_ext
import jax, jax.numpy as jnp
def shape(*sizes, dtype="bfloat16"):
    return jax.ShapeDtypeStruct(sizes, dtype)

def block(p, x):
    q, k, v = (jnp.einsum("btd,dhk->bthk", x, p[name]) for name in ("query", "key", "value"))
    weights = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k))
    x = x + jnp.einsum("bthk,hkd->btd", jnp.einsum("bhts,bshk->bthk", weights, v), p["out"])
    return x + jax.nn.gelu(x @ p["up"]) @ p["down"]

def loss(params, tokens):
    x = params["embed"][tokens]
    for p in params["blocks"]:
        x = block(p, x)
    return jax.nn.logsumexp(x @ params["head"], -1).mean()

def step(params, momentum, tokens):
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, jax.grad(loss)(params, tokens))
    return jax.tree.map(jnp.subtract, params, momentum), momentum

heads = dict.fromkeys(("query", "key", "value"), shape(512, 8, 64))
one = heads | {"out": shape(8, 64, 512), "up": shape(512, 2048), "down": shape(2048, 512)}
params = {"embed": shape(32000, 512), "blocks": [one, one], "head": shape(512, 32000)}
tokens = shape(32, 256, dtype="int32")
"""
MAGIC = "%dimensions step(params, params, tokens) -t cpu:8 --name up=hidden"
PANEL = "%lower step(params, params, tokens) -t cpu:8"


def test_the_magic_and_the_tab(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, MAGIC, PANEL], width=1400)
    notebook.run_all()
    shown = notebook.page.locator(".jp-OutputArea-output table").first
    expect(shown).to_contain_text("hidden")
    expect(shown).to_contain_text("all-reduce")
    panel = notebook.panel()
    panel.tab("dimensions").click()
    root = panel.root
    root.locator(".jxs-dimensions .jxs-grid-row[data-row]", has_text="all-reduce").first.wait_for()
    chips = root.locator(".jxs-dimension-chips button")
    assert {"up", "d", "h", "vocab", "b", "t"} <= {text.split()[0] for text in chips.all_inner_texts()}
    chip = chips.filter(has_text="vocab")
    chip.click()
    expect(root.locator(".jxs-dimension-about h4")).to_contain_text("vocab")
    chip.press("ArrowLeft")
    expect(chip).not_to_be_focused()
    root.locator(".jxs-axis-row", has_text="['up']").first.locator("button").nth(1).click()
    expect(root.locator(".jxs-dimension-about h4")).to_contain_text("up")
    root.locator(".jxs-split-collectives .jxs-link").first.click()
    _sizes_are_coloured_in_the_jaxpr(notebook)
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        for width in (1400, 900):
            notebook.page.set_viewport_size({"width": width, "height": 900})
            settle(root)
            root.locator(".jxs-dimensions").scroll_into_view_if_needed()
            assert_legible(root)
            notebook.screenshot(f"dimensions_{theme.lower()}_{width}")


def _sizes_are_coloured_in_the_jaxpr(notebook: NotebookPage) -> None:
    panel = notebook.panel()
    panel.tab("code").click()
    panel.root.get_by_role("button", name="jaxpr").first.click()
    sizes = panel.root.locator(".jxs-t-axis")
    sizes.first.wait_for()
    found = {(text, title) for text, title in sizes.evaluate_all("all => all.map(one => [one.innerText, one.title])")}
    assert {("512", "d"), ("2048", "up"), ("64", "value")} <= found
    assert_legible(panel.root)
    panel.tab("dimensions").click()
