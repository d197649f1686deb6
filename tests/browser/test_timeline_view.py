"""The timeline tab: lanes that zoom and move, an event that selects its line, a line whose events stand out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.cells import SETUP
from tests.browser.legible import assert_legible

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

MADE = """
from jaxstage_ext.panel.shown_timeline import recorded
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
with jax.profiler.trace("recorded"):
    step(ps, x)[0].block_until_ready()
jaxstage_ext.load("recorded")
"""
INKED = """canvas => {
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let painted = 0;
    for (let i = 3; i < data.length; i += 4) painted += data[i] > 0;
    return painted / (data.length / 4);
}"""


CHANGED = "([element, was]) => element.innerText !== was"


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
    assert canvas.evaluate(INKED) > 0.02
    whole = seen(panel)
    at(page, panel, 0.515, 31)
    panel.root.locator(".jxs-tip").wait_for()
    tip = panel.root.locator(".jxs-tip").inner_text()
    assert "<img src=x onerror" in tip and "8 µs" in tip, tip
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    page.wait_for_function(
        "([e, was]) => e.innerText !== was", arg=[panel.root.locator(".jxs-tl-seen").element_handle(), whole]
    )
    zoomed = panel.root.locator(".jxs-tl-words").inner_text()
    page.mouse.down()
    at(page, panel, 0.3, 31)
    page.mouse.up()
    assert panel.root.locator(".jxs-tl-words").inner_text() != zoomed
    ground(panel).press("f")
    assert seen(panel) == whole
    page.keyboard.down("Shift")
    at(page, panel, 0.2, 80)
    page.mouse.down()
    at(page, panel, 0.7, 80)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert "Chosen:" in panel.root.locator(".jxs-tl-words").inner_text()
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


@pytest.mark.parametrize(("theme", "width"), [("Light", 1400), ("Dark", 1400), ("Light", 900), ("Dark", 900)])
def test_an_event_selects_its_line_and_a_line_its_events(
    lab: Server, open_notebook: Opener, theme: str, width: int
) -> None:
    notebook = open_notebook(lab, [SETUP, DEFINED, PROFILED], width=width)
    notebook.theme(theme)
    panel, page = opened(notebook), notebook.page
    canvas = ground(panel).locator("canvas").first
    page.wait_for_timeout(500)
    before = canvas.evaluate("canvas => canvas.toDataURL()")
    ground(panel).focus()
    panel.tab("code").click()
    panel.show_panes("python", "hlo")
    panel.reveal("python", "jnp.tanh").click()
    panel.tab("timeline").click()
    panel.root.locator('.jxs-tl-scroll[data-ready="true"]').wait_for()
    page.wait_for_function("([canvas, was]) => canvas.toDataURL() !== was", arg=[canvas.element_handle(), before])
    ground(panel).press("n")
    panel.root.locator(".jxs-tl-words", has_text="Selected:").wait_for(state="attached")
    page.wait_for_timeout(600)
    notebook.screenshot(f"timeline_line_{theme}_{width}")
    ground(panel).press("Enter")
    page.wait_for_timeout(600)
    box = ground(panel).bounding_box()
    assert box
    assert_legible(panel.root)
    notebook.theme("Light")


def line_in_tip(page: Page, panel: PanelOnPage, wait: float) -> int:
    """The line of the cell that the tip names after so many ms; 0 where it names none."""
    page.wait_for_timeout(wait)
    found = re.search(r"In \[2\]:(\d+)", " ".join(panel.root.locator(".jxs-tip").all_inner_texts()))
    return int(found[1]) if found else 0


def event_of_a_line(page: Page, panel: PanelOnPage) -> tuple[int, float, float]:
    """The line of the cell that made an event, and the place of the event, to which the pointer has gone."""
    for y in range(30, 100, 10):
        for percent in range(2, 99):
            box = at(page, panel, percent / 100, y)
            if line_in_tip(page, panel, 20) and (line := line_in_tip(page, panel, 500)):  # a tip may come late
                return line, box["x"] + box["width"] * percent / 100, box["y"] + y
    raise AssertionError("no event has a line of the cell")


def test_a_click_on_an_event_selects_its_line_and_two_zoom_to_it(lab: Server, open_notebook: Opener) -> None:
    notebook = open_notebook(lab, [SETUP, DEFINED, PROFILED])
    panel, page = opened(notebook), notebook.page
    line, x, y = event_of_a_line(page, panel)
    page.mouse.click(x, y)
    strip = panel.root.locator(".jxs-tl-event")
    strip.get_by_text(f"In [2]:{line}", exact=True).wait_for()
    panel.tab("code").click()
    panel.show_panes("python", "hlo")
    code = DEFINED.strip().splitlines()[line - 1].strip()
    assert any(code in text for text in panel.wait_lit("python")), panel.lit("python")
    panel.tab("timeline").click()
    panel.root.locator('.jxs-tl-scroll[data-ready="true"]').wait_for()
    whole, (_, x, y) = seen(panel), event_of_a_line(page, panel)
    page.mouse.dblclick(x, y)
    page.wait_for_function(CHANGED, arg=[panel.root.locator(".jxs-tl-seen").element_handle(), whole])


def test_two_fingers_zoom_and_one_moves(lab: Server, open_notebook: Opener) -> None:
    notebook = open_notebook(lab, [MADE, HOSTILE], own_page=True)
    panel, page = opened(notebook), notebook.page
    box = ground(panel).bounding_box()
    assert box
    middle, y = box["x"] + box["width"] / 2, box["y"] + 31
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def fingers(kind: str, *places: float) -> None:
        points = [{"x": middle + place, "y": y, "id": number} for number, place in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    whole = seen(panel)
    fingers("touchStart", -40, 40)
    for apart in (60, 90, 120):
        fingers("touchMove", -apart, apart)
    fingers("touchEnd")
    page.wait_for_function(CHANGED, arg=[panel.root.locator(".jxs-tl-seen").element_handle(), whole])
    zoomed, words = seen(panel), panel.root.locator(".jxs-tl-words")
    before = words.inner_text()
    fingers("touchStart", 0)
    for place in (-20, -50, -80):
        fingers("touchMove", place)
    fingers("touchEnd")
    page.wait_for_function(CHANGED, arg=[words.element_handle(), before])
    assert seen(panel) == zoomed
