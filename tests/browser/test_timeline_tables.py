"""The timeline tab around its lanes: headline, tables, search, the selected event, comparison, export."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.cells import SETUP
from tests.browser.notebook_page import pictured, settle

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

# One line has nearly all the work, in operations that are long beside a thread's wait for a busy machine: so which
# line takes the time is known, although XLA's CPU runtime records nothing while its threads wait.
MODEL = """
import glob, tempfile
from jaxstage_ext.panel.showing import page, shown_timeline
from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.profiling.timeline import Timeline

def layer(p, x):
    return x + jax.nn.gelu(x @ p["up"]) @ p["down"]

@jax.jit
def step(ps, x):
    def loss(ps):
        y = x
        for p in ps:
            y = layer(p, y)
        return jnp.mean(y ** 2)
    value, g = jax.value_and_grad(loss)(ps)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, ps, g)

ps = [{"up": jnp.ones((512, 1024)), "down": jnp.ones((1024, 512))} for _ in range(4)]
x = jnp.ones((256, 512))
_ = jax.block_until_ready(step(ps, x))
"""
PROFILE = """
folder = tempfile.mkdtemp()
options = jax.profiler.ProfileOptions()
options.python_tracer_level = 0
with jax.profiler.trace(folder, profiler_options=options):
    for i in range(3):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            jax.block_until_ready(step(ps, x))
data = open(glob.glob(folder + "/**/*.xplane.pb", recursive=True)[0], "rb").read()
recording = xplane.read(data, "step(ps, x)")
shown = shown_timeline.recorded(Timeline(recording, op_links.places(recording)))
page.write([shown.program], "timeline.html")
shown
"""


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, MODEL, PROFILE], width=1400, height=1200)
    opened.run_all()
    opened.panel().root.locator('[aria-label="timeline lines"] tbody tr').first.wait_for()
    return opened


@pytest.fixture
def panel(notebook: NotebookPage) -> PanelOnPage:
    panel = notebook.panel()
    table(panel, "lines")
    return panel


def table(panel: PanelOnPage, name: str) -> None:
    panel.root.locator(f'[data-table="{name}"]').click()


def rows(panel: PanelOnPage, name: str) -> list[str]:
    grid = panel.root.locator(f'[aria-label="timeline {name}"] tbody tr')
    grid.first.wait_for()
    return grid.all_inner_texts()


def test_the_head_says_which_line_takes_the_time_and_how_much_is_known(panel: PanelOnPage) -> None:
    head = panel.root.locator(".jxs-tl-head")
    assert re.match(r"In \[2\]:\d+ .*?\d+%", head.inner_text())
    assert re.search(r"[\d,]+ of [\d,]+ events, .*?\d+%", head.inner_text())
    expect(head).to_contain_text("3 steps", use_inner_text=True)
    expect(head.locator(".jxs-tl-share")).to_have_count(1)


def test_a_line_shows_its_text_and_is_selected_everywhere(panel: PanelOnPage) -> None:
    first = rows(panel, "lines")[0]
    assert re.match(r"In \[2\]:\d+", first) and ("gelu" in first or "return" in first)
    panel.root.locator('[aria-label="timeline lines"] tbody tr').first.dblclick()
    panel.root.locator('.jxs-pane[data-doc="python"] .jxs-selected').first.wait_for()
    panel.tab("timeline").click()


@pytest.mark.parametrize("name", ["ops", "kernels", "scopes", "kinds", "gaps", "steps"])
def test_every_table_has_rows(panel: PanelOnPage, name: str) -> None:
    table(panel, name)
    assert rows(panel, name)


def test_search_finds_in_the_whole_trace_and_goes_from_hit_to_hit(panel: PanelOnPage) -> None:
    panel.root.locator('[data-table="lines"]').press("/")
    box = panel.root.locator(".jxs-tl-search-box")
    box.type("fusion")
    found = panel.root.locator(".jxs-tl-search [role=status]")
    found.wait_for()
    count = int(re.findall(r"([\d,]+) hit", found.inner_text())[0].replace(",", ""))
    assert count >= 3
    box.press("Enter")
    panel.root.locator(".jxs-tl-event-name").wait_for()
    first = found.inner_text()
    box.press("Enter")
    panel.root.page.wait_for_function("([e, was]) => e.innerText !== was", arg=[found.element_handle(), first])
    box.press("Shift+Enter")
    panel.root.page.wait_for_function("([e, was]) => e.innerText === was", arg=[found.element_handle(), first])
    box.fill("no such thing")
    panel.root.get_by_text("no hits in the whole trace").wait_for()
    box.fill("")
    panel.root.get_by_label("Close the details").click()


def test_the_selected_event_says_all_about_itself(panel: PanelOnPage, notebook: NotebookPage) -> None:
    box = panel.root.locator(".jxs-tl-search-box")
    box.fill("In [2]: fusion")
    panel.root.locator(".jxs-tl-search [role=status]").wait_for()
    box.press("Enter")
    strip = panel.root.locator(".jxs-tl-event")
    strip.locator("dl").first.wait_for()
    words = strip.inner_text()
    assert all(word in words for word in ("duration", "lane", "instruction", "module", "jit_step", "In [2]:"))
    notebook.screenshot("timeline_event")
    strip.get_by_label("Close the details").click()
    strip.wait_for(state="detached")
    box.fill("")


def test_of_a_range_the_tables_are_of_it_alone(panel: PanelOnPage, notebook: NotebookPage) -> None:
    panel.root.get_by_role("button", name="Fit").click()
    count = count_of_first_line(panel)
    box = panel.root.locator(".jxs-tl-ground").bounding_box()
    assert box is not None
    mouse, keyboard, y = notebook.page.mouse, notebook.page.keyboard, box["y"] + 40
    keyboard.down("Shift")
    mouse.move(box["x"] + 0.1 * box["width"], y)
    mouse.down()
    mouse.move(box["x"] + 0.4 * box["width"], y, steps=4)
    mouse.up()
    keyboard.up("Shift")
    said = panel.root.locator(".jxs-tl-range")
    said.wait_for()
    expect(said).to_contain_text("selected, events clipped to it", use_inner_text=True)
    expect(cells_of_first_line(panel).nth(5)).not_to_have_text(f"{count:,}")
    assert 0 < count_of_first_line(panel) < count
    notebook.screenshot("timeline_range")
    said.get_by_role("button", name="Clear selection").click()
    said.wait_for(state="detached")


def count_of_first_line(panel: PanelOnPage) -> int:
    return int(cells_of_first_line(panel).nth(5).inner_text().replace(",", ""))


def cells_of_first_line(panel: PanelOnPage) -> Locator:
    return panel.root.locator('[aria-label="timeline lines"] tbody tr').first.locator("td")


def test_a_click_on_a_gap_zooms_to_it(panel: PanelOnPage) -> None:
    panel.root.get_by_role("button", name="Fit").click()
    on_screen = panel.root.locator(".jxs-tl-seen")
    before = on_screen.inner_text()
    table(panel, "gaps")
    panel.root.locator('[aria-label="timeline gaps"] tbody tr').first.click()
    expect(on_screen).not_to_have_text(before)
    panel.root.get_by_role("button", name="Fit").click()


def test_two_steps_side_by_side(panel: PanelOnPage, notebook: NotebookPage) -> None:
    table(panel, "compare")
    change = panel.root.locator(".jxs-tl-change")
    change.wait_for()
    assert re.match(r"Self time: .* before, .* after", change.inner_text())
    notebook.screenshot("timeline_compare")


def test_a_table_is_saved_as_a_file(panel: PanelOnPage) -> None:
    menu = panel.root.locator(".jxs-tl-export")
    for name, begins in (("csv", b"line,"), ("svg", b"<svg"), ("png", b"\x89PNG")):
        menu.locator("summary").click()
        with panel.root.page.expect_download() as saved:
            menu.locator(f'[data-export="{name}"]').click()
        with open(saved.value.path(), "rb") as file:
            assert file.read(len(begins)) == begins
        expect(menu).not_to_have_attribute("open", "")


def test_the_offline_page_has_the_headline_and_the_tables(notebook: NotebookPage, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    trouble: list[str] = []
    page.on("request", lambda request: trouble.append(request.url) if request.url.startswith("http") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(notebook.path.with_name("timeline.html").as_uri())
    page.locator('[role="tab"][data-view="timeline"]').click()
    page.locator('[aria-label="timeline lines"] tbody tr').first.wait_for()
    expect(page.locator(".jxs-headline")).to_contain_text(re.compile(r"In \[2\]:\d+ .*\d+%"), use_inner_text=True)
    page.locator('[data-table="gaps"]').click()
    page.locator('[aria-label="timeline gaps"] tbody tr').first.wait_for()
    pictured(page, "timeline_offline")
    page.close()
    assert not trouble


def test_both_themes_and_a_narrow_window(notebook: NotebookPage, panel: PanelOnPage) -> None:
    panel.root.get_by_role("button", name="Fit").click()
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        for width in (1400, 900):
            notebook.page.set_viewport_size({"width": width, "height": 1200})
            settle(panel.root)
            notebook.screenshot(f"timeline_tables_{theme.lower()}_{width}")
            assert panel.root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    notebook.page.set_viewport_size({"width": 1400, "height": 1200})
