"""The timeline tab: lanes that zoom and move, an event that selects its line, a line whose events stand out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.cells import SETUP
from tests.browser.legible import assert_legible
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

MADE = """
from jaxstage_ext.panel.showing.shown_timeline import recorded
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import EventKind, EventLane, LaneKind
from tests.helpers.recordings import Event, recording
"""
HOSTILE = """
name = "<img src=x onerror=window.pwned=1>"
thread, long = "python" * 2000, "launch " + "x" * 10_000
lanes = [EventLane("<b>GPU</b> 0", "compute", LaneKind.COMPUTE, 0), EventLane("host", thread, LaneKind.HOST)]
events = [Event("compute", name, 10 * i, 8, EventKind.KERNEL, correlation=i + 1) for i in range(10)]
events += [Event(thread, long, 10 * i - 5, 3, EventKind.LAUNCH, correlation=i + 1) for i in range(1, 10)]
made = recording(events, lanes, title="<script>window.pwned=1</script>")
recorded(Timeline(made, without_places(made)))
"""
DEFINED = """
def loss(ps, x):
    for p in ps:
        x = jnp.tanh(x @ p)
    return (x ** 2).sum()

@jax.jit
def step(ps, x):
    g = jax.grad(loss)(ps, x)
    return [p - 0.1 * d for p, d in zip(ps, g)]

ps, x = [jnp.ones((512, 512))] * 3, jnp.ones((512, 512))
step(ps, x)[0].block_until_ready()
"""
PROFILED = """
import dataclasses, glob, tempfile
import numpy as np
from jaxstage_ext.panel.showing.shown_timeline import recorded
from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.profiling.xplane import xplane

folder = tempfile.mkdtemp()
with jax.profiler.trace(folder):
    step(ps, x)[0].block_until_ready()
(file,) = glob.glob(folder + "/**/*.xplane.pb", recursive=True)
real = xplane.read(open(file, "rb").read(), "step(ps, x)")

ops = np.flatnonzero(real.events.op >= 0)
kept = {column.name: getattr(real.events, column.name)[ops] for column in dataclasses.fields(real.events)}
start, duration = np.arange(len(ops)) * 10_000_000, np.full(len(ops), 8_000_000)
kept |= {"start": start, "duration": duration, "lane": np.zeros_like(kept["lane"])}
lane = real.lanes[real.events.lane[ops[0]]]
even = dataclasses.replace(real, events=dataclasses.replace(real.events, **kept), lanes=(lane,), total=len(ops))
recorded(Timeline(even, op_links.places(even)))
"""
"""What ran, one after the other and each as long as the others: how long it really took is up to the machine."""
INKED = """canvas => {
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let painted = 0;
    for (let i = 3; i < data.length; i += 4) painted += data[i] > 0;
    return painted / (data.length / 4);
}"""


def opened(notebook: NotebookPage) -> PanelOnPage:
    notebook.run_all()
    panel = notebook.panel()
    panel.tab("timeline").click()
    panel.root.locator('.jxs-tl-scroll[data-ready="true"]').wait_for()
    panel.root.scroll_into_view_if_needed()
    return panel


def ground(panel: PanelOnPage) -> Locator:
    return panel.root.locator(".jxs-tl-ground")


def seen(panel: PanelOnPage) -> str:
    return panel.root.locator(".jxs-tl-seen").inner_text()


def at(page: Page, panel: PanelOnPage, x: float, y: float) -> dict[str, Any]:
    """Point at a share of the width of the lanes, and a height in pixels."""
    box = ground(panel).bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * x, box["y"] + y)
    return dict(box)


def test_zoom_move_hover_and_the_time_between(lab: Server, open_notebook: Opener) -> None:
    notebook = open_notebook(lab, [MADE, HOSTILE])
    panel, page = opened(notebook), notebook.page
    canvas = ground(panel).locator("canvas").first
    page.wait_for_function(f"canvas => ({INKED})(canvas) > 0.02", arg=canvas.element_handle(), polling=100)
    whole = seen(panel)
    at(page, panel, 0.515, 31)
    tip = panel.root.locator(".jxs-tip")
    expect(tip).to_contain_text("<img src=x onerror")
    expect(tip).to_contain_text("8 µs")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    expect(panel.root.locator(".jxs-tl-seen")).not_to_have_text(whole)
    words = panel.root.locator(".jxs-tl-words")
    zoomed = words.inner_text()
    page.mouse.down()
    at(page, panel, 0.3, 31)
    page.mouse.up()
    expect(words).not_to_have_text(zoomed)
    ground(panel).press("f")
    expect(panel.root.locator(".jxs-tl-seen")).to_have_text(whole)
    page.keyboard.down("Shift")
    at(page, panel, 0.2, 80)
    page.mouse.down()
    at(page, panel, 0.7, 80)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(words).to_contain_text("Chosen:")
    ground(panel).press("b")
    panel.root.locator(".jxs-tl-bookmark").wait_for()
    at(page, panel, 0.515, 31)
    page.mouse.click(*_middle(panel))
    assert page.evaluate("() => window.pwned") is None
    assert_legible(panel.root)


def _middle(panel: PanelOnPage) -> tuple[float, float]:
    box = ground(panel).bounding_box()
    assert box
    return box["x"] + box["width"] * 0.515, box["y"] + 31


@pytest.fixture(scope="module")
def profiled(lab: Server, module_notebook: Opener) -> NotebookPage:
    notebook = module_notebook(lab, [SETUP, DEFINED, PROFILED])
    opened(notebook)
    return notebook


@pytest.fixture
def profile(profiled: NotebookPage) -> PanelOnPage:
    """The timeline of what was profiled: all of it on screen, nothing selected."""
    panel = profiled.panel()
    panel.tab("code").click()
    panel.clear()
    show_lanes(panel)
    ground(panel).press("f")
    return panel


def show_lanes(panel: PanelOnPage) -> None:
    panel.tab("timeline").click()
    panel.root.locator('.jxs-tl-scroll[data-ready="true"]').wait_for()
    panel.root.scroll_into_view_if_needed()
    settle(panel.root)


@pytest.mark.parametrize(("theme", "width"), [("Light", 1400), ("Dark", 1400), ("Light", 900), ("Dark", 900)])
def test_an_event_selects_its_line_and_a_line_its_events(
    profiled: NotebookPage, profile: PanelOnPage, theme: str, width: int
) -> None:
    panel, page = profile, profiled.page
    page.set_viewport_size({"width": width, "height": 1000})
    profiled.theme(theme)
    settle(panel.root)
    canvas = ground(panel).locator("canvas").first
    before = canvas.evaluate("canvas => canvas.toDataURL()")
    panel.tab("code").click()
    panel.show_panes("python", "hlo")
    panel.reveal("python", "jnp.tanh").click()
    show_lanes(panel)
    redrawn = "([canvas, was]) => canvas.toDataURL() !== was"
    page.wait_for_function(redrawn, arg=[canvas.element_handle(), before], polling=100)
    ground(panel).press("n")
    panel.root.locator(".jxs-tl-words", has_text="Selected:").wait_for(state="attached")
    profiled.screenshot(f"timeline_line_{theme}_{width}")
    ground(panel).press("Enter")
    assert_legible(panel.root)
    profiled.theme("Light")
    page.set_viewport_size({"width": 1400, "height": 1000})


def event_of_a_line(page: Page, panel: PanelOnPage) -> tuple[int, float, float]:
    """The line of the cell that made an event, and the place of the event, to which the pointer has gone."""
    for percent in range(2, 99):
        box = at(page, panel, percent / 100, 31)
        settle(panel.root)
        found = re.search(r"In \[2\]:(\d+)", " ".join(panel.root.locator(".jxs-tip").all_inner_texts()))
        if found:
            return int(found[1]), box["x"] + box["width"] * percent / 100, box["y"] + 31
    raise AssertionError("no event has a line of the cell")


def test_a_click_on_an_event_selects_its_line_and_two_zoom_to_it(profiled: NotebookPage, profile: PanelOnPage) -> None:
    panel, page = profile, profiled.page
    line, x, y = event_of_a_line(page, panel)
    page.mouse.click(x, y)
    strip = panel.root.locator(".jxs-tl-event")
    expect(strip.get_by_text(f"In [2]:{line}", exact=True)).to_be_visible()
    panel.tab("code").click()
    panel.show_panes("python", "hlo")
    code = DEFINED.strip().splitlines()[line - 1].strip()
    assert any(code in text for text in panel.wait_lit("python")), panel.lit("python")
    show_lanes(panel)
    whole, (_, x, y) = seen(panel), event_of_a_line(page, panel)
    page.mouse.dblclick(x, y)
    expect(panel.root.locator(".jxs-tl-seen")).not_to_have_text(whole)


HEARD = """ground => {
    window.jxsFingers = 0;
    for (const [kind, by] of [["pointerdown", 1], ["pointerup", -1], ["pointercancel", -1]])
        ground.addEventListener(kind, () => { window.jxsFingers += by; });
    return new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
}"""


def test_two_fingers_zoom_and_one_moves(lab: Server, open_notebook: Opener) -> None:
    notebook = open_notebook(lab, [MADE, HOSTILE], own_page=True)
    panel, page = opened(notebook), notebook.page
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    page.wait_for_function("navigator.maxTouchPoints === 2", polling=100)
    lanes = ground(panel)
    lanes.hover(position={"x": 200, "y": 31})  # once it stands still and nothing lies over it
    lanes.evaluate(HEARD)
    box = lanes.bounding_box()
    assert box
    middle, y = box["x"] + box["width"] / 2, box["y"] + 31

    def fingers(kind: str, *places: float) -> None:
        points = [{"x": middle + place, "y": y, "id": number} for number, place in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_function("on => window.jxsFingers === on", arg=len(places), polling=100)

    whole = seen(panel)
    fingers("touchStart", -40, 40)
    for apart in (60, 90, 120):
        fingers("touchMove", -apart, apart)
    fingers("touchEnd")
    expect(panel.root.locator(".jxs-tl-seen")).not_to_have_text(whole)
    zoomed, words = seen(panel), panel.root.locator(".jxs-tl-words")
    before = words.inner_text()
    fingers("touchStart", 0)
    for place in (-20, -50, -80):
        fingers("touchMove", place)
    fingers("touchEnd")
    expect(words).not_to_have_text(before)
    assert seen(panel) == zoomed
