"""The memory tab: the headline, the picture, what lives at a moment, a click that selects its line everywhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from absent import needs
from playwright.sync_api import expect

from tests.browser.cells import SETUP
from tests.browser.legible import assert_legible

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
ABSENT = "%compile -t {} step(ps, jnp.ones((512, 256)))"
LARGE = """
%%compile -t v5e:2x2 --args "f32[131072,16384], f32[16384,16384]"
def large(x, w):
    y = jnp.tanh(x @ w)
    return (y * (jnp.sin(x) @ w)).sum(), jnp.cumsum(y, 0)
"""
HUGE = """
%%compile --run
def huge(x):
    y = jnp.broadcast_to(x, (1 << 24, 1 << 24))
    return y * jnp.arange(1 << 24, dtype=jnp.float32)
huge(jnp.float32(1))
"""
STILL, MOVING = 0, 1
PAINTED = """(canvas, [from, to]) => {
    const [left, right] = [from, to].map(share => Math.floor(share * canvas.width));
    const {data} = canvas.getContext('2d').getImageData(left, 0, Math.max(1, right - left), canvas.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length / (data.length / 4);
}"""


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


def painted(panel: PanelOnPage, layer: int, begin: float = 0, end: float = 1) -> float:
    """Share of the picture's pixels that a layer has painted, between two shares of its width."""
    panel.root.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    share: float = panel.root.locator(".jxs-mem-canvas canvas").nth(layer).evaluate(PAINTED, [begin, end])
    return share


def wait_painted(panel: PanelOnPage, layer: int, holds: str, begin: float = 0, end: float = 1) -> None:
    """Wait until the share of a layer that is painted is as a condition in JavaScript says."""
    panel.root.page.wait_for_function(
        f"([canvas, part]) => {{ const share = ({PAINTED})(canvas, part); return {holds}; }}",
        arg=[panel.root.locator(".jxs-mem-canvas canvas").nth(layer).element_handle(), [begin, end]],
    )


def point(panel: PanelOnPage, across: float, up: float) -> dict[str, float]:
    """A place on the picture, by shares of its width and height."""
    box = panel.root.locator(".jxs-mem-canvas").bounding_box()
    assert box
    return {"x": across * box["width"], "y": (1 - up) * box["height"]}


def test_the_headline_says_whether_it_fits(panel: PanelOnPage) -> None:
    assert re.search(r"✓ Fits: it needs [\d.]+ MB of the", panel.root.locator(".jxs-mem-fit").inner_text())
    assert panel.root.locator(".jxs-mem-peak").inner_text().strip() == "the peak"


def test_the_picture_is_there_each_time_that_the_tab_is_opened(panel: PanelOnPage) -> None:
    for _ in range(2):
        wait_painted(panel, STILL, "share > 0.5")
        panel.tab("code").click()
        panel.tab("memory").click()
    wait_painted(panel, STILL, "share > 0.5")


def test_a_row_that_is_pointed_at_shows_its_life(panel: PanelOnPage, notebook: NotebookPage) -> None:
    residual = rows(panel).filter(has_text="residual").first
    residual.hover()
    wait_painted(panel, MOVING, "share > 0.95", 0.45, 0.5)
    assert painted(panel, MOVING, 0.9, 1) < 0.95
    notebook.screenshot("memory-row")
    residual.click()
    panel.tab("code").click()
    assert panel.wait_lit("python")


def test_the_picture_tells_what_the_pointer_is_on(panel: PanelOnPage, notebook: NotebookPage) -> None:
    canvas = panel.root.locator(".jxs-mem-canvas")
    canvas.hover(position=point(panel, 0.5, 0.05))
    told = panel.root.locator(".jxs-mem-about")
    expect(told).to_have_text(re.compile(r"ps\D|argument|output"))
    expect(told).to_contain_text("live at")
    wait_painted(panel, MOVING, "share > 0.95", 0.9, 1)
    notebook.screenshot("memory-hover")


def test_a_click_on_a_buffer_selects_its_line_everywhere(panel: PanelOnPage, notebook: NotebookPage) -> None:
    canvas = panel.root.locator(".jxs-mem-canvas")
    canvas.hover(position=point(panel, 0.5, 0.5))
    expect(panel.root.locator(".jxs-mem-about")).to_contain_text("residual, allocated at In [2]:2, live from")
    canvas.click(position=point(panel, 0.5, 0.5))
    rows(panel).and_(panel.root.locator(".jxs-lit")).first.wait_for()
    panel.tab("code").click()
    assert panel.wait_lit("python") == ['h = jax.nn.gelu(x @ p["up"])']
    assert panel.lit("hlo", "selected")


def test_keys_move_along_the_schedule_and_zoom(panel: PanelOnPage, notebook: NotebookPage) -> None:
    canvas = panel.root.locator(".jxs-mem-canvas")
    canvas.press("Home")
    panel.root.locator(".jxs-mem-moment", has_text="live at 0").wait_for()
    canvas.press("ArrowRight")
    panel.root.locator(".jxs-mem-moment", has_text="live at 1").wait_for()
    whole = painted(panel, STILL)
    for _ in range(3):
        canvas.press("+")
    wait_painted(panel, STILL, f"share !== {whole}")
    notebook.screenshot("memory-zoomed")
    canvas.press("0")
    wait_painted(panel, STILL, f"share === {whole}")
    panel.root.get_by_role("button", name="Go to the peak").click()
    panel.root.locator(".jxs-mem-peak").wait_for()
    first, second = (rows(panel).locator("button").nth(i) for i in range(2))
    first.focus()
    first.press("ArrowDown")
    expect(second).to_be_focused()
    wait_painted(panel, MOVING, "share > 0.95", 0.45, 0.5)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("advice", "Not donated"),
        ("arguments", "ps[0]['down']"),
        ("results", "result[1][0]['down']"),
        ("checks", "leaves out all temporaries"),
        ("constants", "Nothing to list"),
    ],
)
def test_the_tables(panel: PanelOnPage, notebook: NotebookPage, name: str, text: str) -> None:
    part(panel, name)
    expect(panel.root.locator(".jxs-mem-part")).to_contain_text(text)
    notebook.screenshot(f"memory-{name}")


def test_what_the_backward_pass_keeps(panel: PanelOnPage, notebook: NotebookPage) -> None:
    part(panel, "backward")
    expect(panel.root.locator(".jxs-mem-backward tbody tr", has_text="nothing_saveable")).to_be_visible()
    notebook.screenshot("memory-backward")
    panel.root.locator(".jxs-mem-backward tbody tr", has_text="dots_saveable").last.click()
    panel.root.locator("h4", has_text="with dots_saveable").wait_for()


def test_both_themes(panel: PanelOnPage, notebook: NotebookPage) -> None:
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        wait_painted(panel, STILL, "share > 0.5")
        notebook.screenshot(f"memory-{theme.lower()}")
        assert_legible(panel.root)


@pytest.mark.parametrize(
    ("target", "platform", "spaces"),
    [("v5e:2x2", "tpu", ["HBM", "VMEM"]), ("h100:4", "cuda", ["GPU memory"])],
)
def test_absent_devices(open_notebook: Opener, lab: Server, target: str, platform: str, spaces: list[str]) -> None:
    needs(platform)
    opened = open_notebook(lab, [SETUP, LAYERS, ABSENT.format(target)], width=1500, height=1300)
    opened.run_all()
    panel = opened.panel()
    panel.tab("memory").click()
    expect(rows(panel).first).to_be_visible()
    for space in spaces:
        panel.root.locator("[data-space]", has_text=space).click()
        expect(panel.root.locator(".jxs-mem-moment", has_text=f"of {space} live")).to_be_visible()
        wait_painted(panel, STILL, "share > 0.1")
        panel.root.locator(".jxs-mem-canvas").hover(position=point(panel, 0.5, 0.05))
        opened.screenshot(f"memory-{platform}-{space.split()[0]}")
    opened.theme("Dark")
    opened.screenshot(f"memory-{platform}-dark")
    opened.theme("Light")


def test_a_compile_that_runs_out_of_memory_opens_on_what_takes_it(open_notebook: Opener, lab: Server) -> None:
    needs("tpu")
    opened = open_notebook(lab, [SETUP, LARGE], width=1500, height=1100)
    opened.run_all()
    panel = opened.panel()
    panel.root.locator(".jxs-mem-fit[data-answer=no]").wait_for()
    expect(panel.root.locator(".jxs-mem-fit")).to_contain_text("Does not fit: it needs 26.8 GB", use_inner_text=True)
    expect(panel.root.locator(".jxs-mem-spaces")).to_contain_text("VMEM", use_inner_text=True)
    rows(panel).filter(has_text="temporary").first.hover()
    opened.screenshot("memory-too-large")
    panel.root.locator(".jxs-mem-canvas").click(position=point(panel, 0.28, 0.8))
    panel.tab("code").click()
    assert panel.wait_lit("python", "selected") == ["y = jnp.tanh(x @ w)"]


def test_a_run_that_dies_of_memory_opens_on_what_takes_it(open_notebook: Opener, lab: Server) -> None:
    opened = open_notebook(lab, [SETUP, HUGE], width=1500, height=1100)
    opened.run_all()
    panel = opened.panel()
    rows(panel).first.wait_for()
    expect(panel.root.locator('[aria-selected="true"]')).to_have_attribute("data-view", "memory")
    expect(panel.root.locator(".jxs-failure")).to_contain_text(
        "Live JAX arrays in this kernel at that time: ", use_inner_text=True
    )
    expect(panel.root.locator(".jxs-mem-fit")).to_contain_text("Does not fit: it needs 1.13 PB", use_inner_text=True)
    expect(opened.page.locator(".jp-OutputArea").last).to_contain_text(
        "(see the panel above for what uses the memory)", use_inner_text=True
    )
    opened.screenshot("memory-run")
    rows(panel).first.click()
    panel.tab("code").click()
    assert panel.wait_lit("python") == ["return y * jnp.arange(1 << 24, dtype=jnp.float32)"]
