"""Beside the lines of the code: how values lie on the devices, where dtypes change, and what is warned of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.legible import assert_legible

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

SETUP = """
%load_ext jaxstage_ext
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_num_cpu_devices", 8)
from jax.sharding import NamedSharding, PartitionSpec as P
auto = (jax.sharding.AxisType.Auto,) * 2
mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=auto)
def put(*sizes, spec):
    return jax.device_put(np.ones(sizes, np.float32), NamedSharding(mesh, spec))
x, w = put(64, 32, spec=P("data", None)), put(32, 32, spec=P(None, "model"))
"""
MODEL = """
%%compile
def lay(x, *spec):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))

def model(x, w):
    h = jnp.tanh(x @ w)
    low = h.astype(jnp.bfloat16)
    y = lay(low, None, "data")
    return (y.astype(jnp.float32) @ w.T).sum()

model(x, w)
"""


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, MODEL], width=1600)
    opened.run_all()
    opened.panel().root.locator(".jxs-heat-picker select").wait_for()
    return opened


@pytest.fixture
def panel(notebook: NotebookPage) -> PanelOnPage:
    panel = notebook.panel()
    panel.root.locator(".jxs-heat-picker select").select_option("")
    panel.clear()
    return panel


def choose(panel: PanelOnPage, what: str) -> None:
    panel.root.locator(".jxs-heat-picker select").select_option(what)
    panel.root.locator(".jxs-lane[data-kind]").first.wait_for()


def beside(panel: PanelOnPage, doc: str, text: str) -> str:
    return panel.row(doc, text).locator(".jxs-lane").inner_text()


def test_warnings_stand_at_their_lines_and_are_gone_to(panel: PanelOnPage) -> None:
    expect(panel.root.locator(".jxs-lane, .jxs-warning")).to_have_count(0)
    check = panel.root.locator(".jxs-fact .jxs-link")
    expect(check).to_have_text("check for resharding", use_inner_text=True)
    check.click()
    found = panel.root.locator(".jxs-warned")
    found.wait_for()
    expect(found).to_have_text("⚠ 3 reshardings", use_inner_text=True)
    expect(panel.row("python", "h = jnp.tanh(x @ w)").locator(".jxs-warning")).to_have_text("⚠", use_inner_text=True)
    found.click()
    said = panel.root.locator(".jxs-beside-warning")
    assert "all-gather" in said.inner_text() and "To avoid it" in said.inner_text()
    first = panel.root.locator(".jxs-selected").first.get_attribute("data-row")
    panel.pane("python").locator(".jxs-code").press("w")
    panel.root.locator(f'.jxs-selected:not([data-row="{first}"])').first.wait_for()


def test_what_stands_beside_the_lines_is_chosen(panel: PanelOnPage) -> None:
    expect(panel.root.locator(".jxs-lane")).to_have_count(0)
    choose(panel, "sharding")
    assert beside(panel, "python", "low = h.astype") == "□ ·,data"
    assert beside(panel, "python", "with_sharding_constraint") == "■ ·,data"
    assert beside(panel, "python", "def model(x, w)") == "■ 2 arguments"
    lane = panel.row("python", "with_sharding_constraint").locator(".jxs-lane")
    assert (lane.get_attribute("title") or "").startswith(
        "P(None, 'data'): chosen by you\nsharding_constraint bf16[64,32]"
    )
    choose(panel, "dtypes")
    assert beside(panel, "python", "low = h.astype") == "▼ f32→bf16 −4.1 kB"
    panel.root.locator(".jxs-heat-picker select").select_option("")
    panel.root.locator(".jxs-lane").first.wait_for(state="detached")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_in_both_themes(notebook: NotebookPage, panel: PanelOnPage, theme: str) -> None:
    notebook.theme(theme)
    for what in ("sharding", "dtypes"):
        choose(panel, what)
        panel.root.locator(".jxs-detail").scroll_into_view_if_needed()
        notebook.screenshot(f"lane-{what}-{theme.lower()}")
        assert_legible(panel.root)
    notebook.theme("Light")
