"""The tabs of shardings, collectives and dtypes: what a person finds there, and the way to the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from absent import needs
from playwright.sync_api import expect

from tests.browser.legible import assert_legible
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

SETUP = """
%load_ext jaxstage_ext
import jax, jax.numpy as jnp
from jax.sharding import PartitionSpec as P
def shape(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.bfloat16)
params, x = {"in": shape(1024, 4096), "out": shape(4096, 1024)}, shape(512, 1024)
"""
STEP = """
%%compile -t {target} --mesh "{mesh}" --in-spec "{specs}"
def loss(params, x):
    h = jax.nn.relu(x @ params["in"])
    y = h @ params["out"]
    return (y.astype(jnp.float32) ** 2).mean()

def step(params, x):
    value, grads = jax.value_and_grad(loss)(params, x)
    return value, jax.tree.map(lambda p, g: p - (0.1 * g).astype(p.dtype), params, grads)

step(params, x)
"""
SPECS = "{'in': P('data', 'model'), 'out': P('model', 'data')}, P('data')"
ON_CPUS = STEP.format(target="cpu:8", mesh="data=4,model=2", specs=SPECS)
REFUSED = """
%%compile
four = jax.sharding.AbstractMesh((4,), ("data",))
def halves(x):
    return jax.shard_map(lambda x: x, mesh=four, in_specs=P("data"), out_specs=P("data"))(x)

halves(jnp.ones(7))
"""


def opened(open_notebook: Opener, lab: Server, cell: str, width: int = 1400) -> tuple[NotebookPage, PanelOnPage]:
    notebook = open_notebook(lab, [SETUP, cell], width=width)
    notebook.run_all()
    return notebook, notebook.panel()


def module_page(module_notebook: Opener, lab: Server, cell: str) -> NotebookPage:
    notebook = module_notebook(lab, [SETUP, cell], width=1400)
    notebook.run_all()
    notebook.panel()
    return notebook


@pytest.fixture(scope="module")
def on_cpus(module_notebook: Opener, lab: Server) -> NotebookPage:
    return module_page(module_notebook, lab, ON_CPUS)


@pytest.fixture(scope="module")
def on_v5p(module_notebook: Opener, lab: Server) -> NotebookPage:
    needs("v5p:4x4x4")
    specs = "{'in': P('data', 'model'), 'out': P('model', 'data')}, P(('data', 'extra'))"
    cell = STEP.format(target="v5p:4x4x4", mesh="data=4,model=4,extra=4", specs=specs)
    return module_page(module_notebook, lab, cell)


@pytest.fixture(scope="module")
def on_v5e(module_notebook: Opener, lab: Server) -> NotebookPage:
    needs("v5e:4x4")
    return module_page(module_notebook, lab, STEP.format(target="v5e:4x4", mesh="data=8,model=2", specs=SPECS))


def open_tab(panel: PanelOnPage, name: str, wait: str) -> None:
    panel.tab(name).click()
    panel.root.locator(wait).first.wait_for()


def cells(panel: PanelOnPage) -> list[str | None]:
    settle(panel.root)
    parts: list[str | None] = panel.root.locator(".jxs-map-cell").evaluate_all(
        "cells => cells.map(cell => cell.dataset.part)"
    )
    return parts


def test_the_mesh_map_shows_who_holds_what(on_cpus: NotebookPage) -> None:
    notebook, panel = on_cpus, on_cpus.panel()
    open_tab(panel, "shardings", ".jxs-map-cell")
    expect(panel.root.locator(".jxs-map-head b")).to_have_text("params['in']", use_inner_text=True)
    assert cells(panel) == [str(i) for i in range(8)]
    panel.root.locator(".jxs-grid-row[data-row]", has_text="result[0]").click()
    panel.root.locator(".jxs-map-head b", has_text="result[0]").wait_for()
    assert set(cells(panel)) == {"0"}
    panel.root.locator(".jxs-grid-row[data-row]", has_text="P('data', None)").first.click()
    panel.root.locator(".jxs-map-head b", has_text="x").wait_for()
    panel.root.locator('.jxs-map-cell[data-device="5"]').hover()
    expect(panel.root.locator(".jxs-map-tip")).to_have_text(
        "device 5 of process 0: x[256:384, 0:1024]", use_inner_text=True
    )
    expect(panel.root.locator(".jxs-map-same")).to_have_count(2)
    notebook.screenshot("shardings")


def test_intermediates_lead_to_their_lines_and_back(on_cpus: NotebookPage) -> None:
    panel = on_cpus.panel()
    open_tab(panel, "shardings", ".jxs-map-cell")
    panel.root.get_by_role("button", name="Show intermediates").click()
    row = panel.root.locator(".jxs-grid-row[data-row]", has_text="integer_pow").first
    row.click()
    row.dblclick()
    panel.wait_lit("python", "selected", holding="** 2")


def test_the_costliest_collective_its_cause_and_its_line(on_cpus: NotebookPage) -> None:
    notebook, panel = on_cpus, on_cpus.panel()
    open_tab(panel, "collectives", '[data-sort="cause"]')
    first = panel.root.locator(".jxs-grid-row[data-row]").first
    expect(first).to_contain_text("all-reduce", use_inner_text=True)
    expect(first).to_contain_text("partial sums of dot_general", use_inner_text=True)
    headline = panel.root.locator(".jxs-headline").inner_text()
    assert headline.startswith("The costliest of 6 collectives: all-reduce of 8.39 MB over data for In [2]:3")
    first.click()
    facts = panel.root.locator(".jxs-facts-list").inner_text()
    assert "{0,2,4,6} {1,3,5,7}" in facts
    panel.root.locator(".jxs-facts-list").scroll_into_view_if_needed()
    notebook.screenshot("collectives")
    first.dblclick()
    panel.wait_lit("python", "selected")


def test_conversions_and_their_lines(on_cpus: NotebookPage) -> None:
    notebook, panel = on_cpus, on_cpus.panel()
    open_tab(panel, "dtypes", ".jxs-grid-row[data-row]")
    first = panel.root.locator(".jxs-grid-row[data-row]").first
    assert "bf16" in first.inner_text() and "f32" in first.inner_text()
    notebook.screenshot("dtypes")
    first.dblclick()
    panel.wait_lit("python", "selected", holding="astype")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_torus_and_a_mesh_of_three_axes(on_v5p: NotebookPage, theme: str) -> None:
    notebook, panel = on_v5p, on_v5p.panel()
    notebook.theme(theme)
    open_tab(panel, "shardings", ".jxs-map-cell")
    panel.root.locator(".jxs-grid-row[data-row]", has_text="P(('data', 'extra'), None)").first.click()
    panel.root.locator(".jxs-map-head b", has_text="x").wait_for()
    panel.root.locator('[data-chart="mesh"]').click()
    panel.root.locator('[data-axis="extra"]').fill("0")
    before = cells(panel)
    panel.root.locator('[data-axis="extra"]').fill("2")
    assert cells(panel) != before
    notebook.screenshot(f"shardings-{theme}")
    panel.root.locator('[data-chart="torus"]').click()
    panel.root.locator('[data-axis="z"]').wait_for()
    panel.root.locator(".jxs-map-cell").first.hover()
    expect(panel.root.locator(".jxs-map-tip")).to_contain_text("at (0, 0, 0)", use_inner_text=True)
    notebook.screenshot(f"shardings-torus-{theme}")
    assert_legible(panel.root)
    open_tab(panel, "collectives", '[data-sort="cause"]')
    notebook.screenshot(f"collectives-{theme}")
    assert_legible(panel.root)
    notebook.theme("Light")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_slice_of_a_pod_tells_what_costs_most(on_v5e: NotebookPage, theme: str) -> None:
    notebook, panel = on_v5e, on_v5e.panel()
    notebook.theme(theme)
    open_tab(panel, "collectives", '[data-sort="cause"]')
    headline = panel.root.locator(".jxs-headline").inner_text()
    assert "for In [2]:" in headline and "at least" in headline and "µs" in headline
    panel.root.locator(".jxs-facts-list").scroll_into_view_if_needed()
    notebook.screenshot(f"collectives-v5e-{theme}")
    open_tab(panel, "shardings", ".jxs-map-cell")
    panel.root.locator('[data-chart="torus"]').click()
    panel.root.locator('.jxs-map-cell[data-device="6"]').hover()
    expect(panel.root.locator(".jxs-map-tip")).to_contain_text("at (2, 1, 0)", use_inner_text=True)
    panel.root.locator(".jxs-map-tip").scroll_into_view_if_needed()
    notebook.screenshot(f"shardings-v5e-{theme}")
    open_tab(panel, "dtypes", ".jxs-grid-row[data-row]")
    notebook.screenshot(f"dtypes-v5e-{theme}")
    notebook.theme("Light")


def test_a_thousand_devices(open_notebook: Opener, lab: Server) -> None:
    cell = """
%%compile -t cpu:1024 --mesh "data=32,model=32" --in-spec "P('data', 'model')"
def double(x):
    return (x + x).sum(1)

double(jax.ShapeDtypeStruct((1024, 4096), jnp.float32))
"""
    notebook, panel = opened(open_notebook, lab, cell)
    open_tab(panel, "shardings", ".jxs-map-cell")
    assert len(cells(panel)) == 1024
    panel.root.locator('.jxs-map-cell[data-device="1000"]').hover()
    said = panel.root.locator(".jxs-map-tip").inner_text()
    assert said.startswith("device 1000 of process 0: x[992:1024, 1024:1152]"), said
    notebook.screenshot("shardings-1024")


def test_what_jax_refuses_is_drawn_and_named(open_notebook: Opener, lab: Server) -> None:
    notebook, panel = opened(open_notebook, lab, REFUSED)
    panel.root.locator(".jxs-map-cell").first.wait_for()
    said = panel.root.locator(".jxs-failure-told").inner_text()
    assert said == "x: dimension 0 of size 7 does not divide into 4 parts (P('data')); the next size that does is 8."
    expect(panel.root.locator(".jxs-map-uneven")).to_have_count(1)
    expect(panel.root.locator(".jxs-shardings-head")).to_have_text("4 devices mesh data=4", use_inner_text=True)
    notebook.screenshot("shardings-refused")


def test_arguments_on_different_devices_are_shown_where_they_lie(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(
        lab,
        [
            """
import jax
jax.config.update("jax_num_cpu_devices", 8)
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
%load_ext jaxstage_ext
def on(devices):
    return jax.device_put(jnp.ones((8, 8)), NamedSharding(Mesh(devices, ("x",)), P("x")))
""",
            """
%%compile
def product(w, x):
    return w @ x

product(on(jax.devices()[:2]), on(jax.devices()[4:]))
""",
        ],
        width=1400,
    )
    notebook.run_all()
    panel = notebook.panel()
    panel.root.locator(".jxs-map-cell").first.wait_for()
    said = panel.root.locator(".jxs-failure-told").inner_text()
    assert said.startswith("w is on devices 0, 1 (mesh x=2). x is on devices 4, 5, 6, 7 (mesh x=4).")
    assert cells(panel) == ["0", "1", *["-1"] * 6]
    panel.root.locator('.jxs-map-cell[data-device="5"]').hover()
    expect(panel.root.locator(".jxs-map-tip")).to_have_text("device 5 of process 0: nothing of w", use_inner_text=True)
    panel.root.locator(".jxs-grid-row[data-row]").nth(1).click()
    panel.root.locator(".jxs-map-head b", has_text="x").wait_for()
    assert cells(panel) == ["-1"] * 4 + ["0", "1", "2", "3"]
    notebook.screenshot("shardings-apart")


def test_a_narrow_panel(on_cpus: NotebookPage) -> None:
    notebook, panel = on_cpus, on_cpus.panel()
    notebook.page.set_viewport_size({"width": 760, "height": 1000})
    open_tab(panel, "shardings", ".jxs-map-cell")
    panel.root.locator(".jxs-map-tip").scroll_into_view_if_needed()
    notebook.screenshot("shardings-narrow")
    assert_legible(panel.root)
    open_tab(panel, "collectives", '[data-sort="cause"]')
    panel.root.locator(".jxs-facts-list").scroll_into_view_if_needed()
    notebook.screenshot("collectives-narrow")
    assert_legible(panel.root)
    notebook.page.set_viewport_size({"width": 1400, "height": 1000})
