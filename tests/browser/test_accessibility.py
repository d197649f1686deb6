"""Every view of the panel by the rules of WCAG 2 at levels A and AA, in both themes; and with the keyboard alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.axe import COLOURS, SCRIPT, violations
from tests.browser.conftest import unavailable
from tests.browser.notebook_page import PanelOnPage, settle

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

SETUP = """
%load_ext jaxstage_ext
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_num_cpu_devices", 8)
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
def put(*sizes, spec):
    return jax.device_put(np.full(sizes, 0.01, np.float32), NamedSharding(mesh, spec))
params = {"qkv": put(32, 96, spec=P(None, "model")), "up": put(32, 64, spec=P(None, "model")),
          "down": put(64, 32, spec=P("model", None))}
tokens = put(8, 16, 32, spec=P("data", None, None))
"""
STEP = """
%%compile -o ins
def attention(qkv, x):
    low = x.astype(jnp.bfloat16) @ qkv.astype(jnp.bfloat16)
    q, k, v = jnp.split(low.astype(jnp.float32), 3, axis=-1)
    weights = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) / jnp.sqrt(q.shape[-1]), axis=-1)
    return jnp.einsum("bqk,bkd->bqd", weights, v)

def loss(params, x):
    x = x + attention(params["qkv"], x)
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, "data", None)))
    return ((jax.nn.gelu(x @ params["up"]) @ params["down"]) ** 2).mean()

def step(params, x):
    value, grads = jax.value_and_grad(loss)(params, x)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

step(params, tokens)
"""
OFFLINE = "ins.to_html('page.html')"
PROFILED = """
run = jax.jit(step)
jax.block_until_ready(run(params, tokens))
%profile run(params, tokens)
"""
COMPARED = """
%%compile -t local -t cpu:2
def small(x):
    return jnp.tanh(x).sum()

small(jnp.ones((8, 8)))
"""
FAILED = """
%%compile
def wrong(x):
    return jnp.tanh(x) @ x

wrong(jnp.ones((8, 4)))
"""
PROFILE, COMPARE, FAILURE = 1, 2, 3
WALK = Path(__file__).with_name("tab_walk.js").read_text()
MOST_STOPS = 60
"""Of one tab: Tab leads past a table, a list and a bar in one step each."""
LEAST_CONTRAST = 3
"""Of what shows the focus, as WCAG's 1.4.11 has it."""


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    if not SCRIPT.exists():
        unavailable("axe-core is not installed: run npm ci in labextension")
    opened = module_notebook(lab, [SETUP, STEP, OFFLINE, PROFILED, COMPARED, FAILED], width=1400, height=1100)
    opened.run_all()
    opened.panel(FAILURE).stage("trace", "failed").wait_for()
    opened.page.evaluate(WALK)
    return opened


def tabs_of(panel: Locator) -> list[str]:
    names: list[str] = panel.get_by_role("tab").evaluate_all("tabs => tabs.map(tab => tab.dataset.view)")
    return names


def opened(notebook: NotebookPage, index: int, tab: str) -> PanelOnPage:
    panel = notebook.panel(index)
    panel.root.scroll_into_view_if_needed()
    if tabs_of(panel.root):
        panel.tab(tab).click()
    settle(panel.root)
    return panel


def views(notebook: NotebookPage) -> list[tuple[int, str]]:
    """Every tab once: of the panel in whose call most is to be seen, and those that other calls alone have."""
    whole = [(0, tab) for tab in tabs_of(notebook.panel().root)]
    return [*whole, (PROFILE, "timeline"), (COMPARE, "compare"), (FAILURE, "code")]


PARTS = {
    "cost": [f'[data-section="{name}"]' for name in ("icicle", "roofline", "ledger")],
    "memory": [
        f'[data-part="{name}"]' for name in ("advice", "arguments", "results", "constants", "backward", "checks")
    ],
    "code": ['[aria-label="Whole call stack (s)"]', '[aria-label="Search this pane (/)"]'],
    "timeline": ['[data-table="ops"]', '[data-table="compare"]', ".jxs-tl-export summary"],
}


def test_every_part_of_a_tab_keeps_the_rules(notebook: NotebookPage) -> None:
    wrong = []
    for tab, parts in PARTS.items():
        panel = opened(notebook, PROFILE if tab == "timeline" else 0, tab)
        if tab == "code":
            panel.reveal("hlo", " dot(").click()
        for part in parts:
            panel.root.locator(part).first.click()
            settle(panel.root)
            wrong += [f"{tab} {part}: {line}" for line in violations(panel.root)]
    notebook.panel().clear()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_offline_page_keeps_the_rules(notebook: NotebookPage, browser: Browser, scheme: Any) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme=scheme)
    page.goto(notebook.path.with_name("page.html").as_uri())
    panel = page.locator(".jaxstage")
    panel.locator(".jxs-code").first.wait_for()
    settle(panel)
    wrong = violations(panel)
    page.close()
    assert not wrong, "\n".join(wrong)


def walked(panel: PanelOnPage) -> list[str]:
    """What is wrong with the way that Tab takes through a panel."""
    page = panel.root.page
    stops: list[str] = panel.root.evaluate("panel => window.tabWalk.number(panel)")
    panel.root.locator('[data-stop="0"]').focus()
    seen, wrong = [], []
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    for _ in range(len(stops) + 5):
        now: dict[str, Any] = panel.root.evaluate("panel => window.tabWalk.now(panel)")
        if now["stop"] == -1:
            break
        seen.append(now["stop"])
        name = stops[now["stop"]] if now["stop"] >= 0 else "?"
        if now["width"] < 2 or now["contrast"] < LEAST_CONTRAST:
            wrong.append(f"the focus on {name!r} is not seen: {now}")
        page.keyboard.press("Tab")
    if seen != list(range(len(stops))):
        wrong.append(f"Tab leads to {seen} of {dict(enumerate(stops))}")
    if len(stops) > MOST_STOPS:
        wrong.append(f"{len(stops)} stops")
    return wrong


def test_every_tab_keeps_the_rules_and_tab_leads_to_every_control_once(notebook: NotebookPage) -> None:
    wrong = []
    for index, tab in views(notebook):
        panel = opened(notebook, index, tab)
        wrong += [f"{tab}: {line}" for line in [*violations(panel.root), *walked(panel)]]
    assert not wrong, "\n".join(wrong)


def test_every_tab_keeps_the_rules_of_colours_in_the_dark(notebook: NotebookPage) -> None:
    notebook.theme("Dark")
    wrong = []
    for index, tab in views(notebook):
        wrong += [f"{tab}: {line}" for line in violations(opened(notebook, index, tab).root, COLOURS)]
    notebook.theme("Light")
    assert not wrong, "\n".join(wrong)


def test_what_closes_gives_the_keyboard_back_and_escape_leaves_the_panel(notebook: NotebookPage) -> None:
    panel, keyboard = opened(notebook, 0, "code"), notebook.page.keyboard
    code = panel.pane("python").locator(".jxs-code")
    code.focus()
    keyboard.press("?")
    helped = panel.root.get_by_role("dialog")
    helped.wait_for()
    for _ in range(3):
        keyboard.press("Tab")
        assert helped.evaluate("box => box.contains(document.activeElement)")
    keyboard.press("Escape")
    expect(code).to_be_focused()
    keyboard.press("/")
    expect(panel.pane("python").locator(".jxs-search input")).to_be_focused()
    keyboard.press("Escape")
    expect(code).to_be_focused()
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    assert panel.wait_lit("python", "selected")
    keyboard.press("Escape")
    expect(code).to_be_focused()
    keyboard.press("Escape")
    assert panel.root.evaluate("root => !root.contains(document.activeElement)")
    assert panel.root.evaluate("root => document.activeElement.contains(root)")


def test_tables_are_two_steps_and_arrows_move_in_them(notebook: NotebookPage) -> None:
    panel, keyboard = opened(notebook, 0, "memory"), notebook.page.keyboard
    panel.root.locator('[data-part="at"]').click()
    table = panel.root.locator(".jxs-lined")
    table.locator("[data-sort]").first.focus()
    keyboard.press("End")
    expect(table.locator("[data-sort]").last).to_be_focused()
    keyboard.press("ArrowDown")
    expect(table.locator(".jxs-grid-link").first).to_be_focused()
    keyboard.press("ArrowDown")
    expect(table.locator(".jxs-grid-link").nth(1)).to_be_focused()
    keyboard.press("Shift+Tab")
    keyboard.press("Tab")
    expect(table.locator(".jxs-grid-link").nth(1)).to_be_focused()
    panel = opened(notebook, 0, "collectives")
    grid = panel.root.locator(".jxs-grid")
    grid.focus()
    keyboard.press("End")
    expect(grid.locator(".jxs-current")).to_have_attribute("aria-selected", "true")
    assert grid.get_attribute("aria-activedescendant") == grid.locator("tr").last.get_attribute("id")


def test_charts_are_read_with_the_keyboard(notebook: NotebookPage) -> None:
    panel, keyboard = opened(notebook, 0, "cost"), notebook.page.keyboard
    panel.root.locator('[data-section="icicle"]').click()
    icicle = panel.root.locator(".jxs-icicle canvas")
    assert "as nested tiles" in (icicle.get_attribute("aria-label") or "")
    icicle.focus()
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    expect(panel.root.locator(".jxs-icicle [role=status]")).to_contain_text("% of all bytes", use_inner_text=True)
    panel = opened(notebook, 0, "memory")
    chart = panel.root.get_by_role("slider")
    chart.focus()
    before = chart.get_attribute("aria-valuetext")
    keyboard.press("Home")
    expect(chart).to_have_attribute("aria-valuenow", "0")
    assert chart.get_attribute("aria-valuetext") != before
    panel = opened(notebook, PROFILE, "timeline")
    panel.root.locator(".jxs-tl-ground").focus()
    keyboard.press("w")
    keyboard.press("r")
    expect(panel.root.locator(".jxs-tl-words")).to_contain_text("Chosen:")
    keyboard.press("Escape")


OUTLINED = "node => getComputedStyle(node).outlineStyle"


def test_the_systems_own_colours_hide_neither_selection_nor_focus(notebook: NotebookPage) -> None:
    panel = opened(notebook, 0, "code")
    notebook.page.emulate_media(forced_colors="active")
    panel.reveal("hlo", " dot(").click()
    panel.wait_lit("python")
    for kind in ("selected", "strong"):
        rows = panel.root.locator(f".jxs-code [data-row].jxs-{kind}")
        assert rows.first.evaluate(OUTLINED) != "none", kind
    assert panel.tab("code").evaluate(OUTLINED) != "none"
    panel.tab("code").focus()
    notebook.screenshot("accessible-forced-colours")
    notebook.page.emulate_media(forced_colors="none")
    panel.clear()


def test_nothing_turns_where_motion_is_reduced(notebook: NotebookPage) -> None:
    panel = opened(notebook, 0, "code")
    turning = """panel => {
        const made = panel.appendChild(document.createElement('i'));
        made.className = 'jxs-spinner';
        const count = panel.getAnimations({subtree: true}).length;
        made.remove();
        return count;
    }"""
    assert panel.root.evaluate(turning) == 1
    notebook.page.emulate_media(reduced_motion="reduce")
    assert panel.root.evaluate(turning) == 0
    notebook.page.emulate_media(reduced_motion="no-preference")
