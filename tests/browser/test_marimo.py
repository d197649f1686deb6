"""The panel in a real marimo: live, styled, with the names of its cells, and gone with the run that made it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import conftest, marimo_server
from tests.browser.servers import SECONDS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

MILLISECONDS = SECONDS * 1000


def _installed() -> None:
    if importlib.util.find_spec("marimo") is None:
        conftest.unavailable("marimo is not installed: pip install marimo")


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The notebook after its first run; at the end fails where the page reported an error or asked somebody outside."""
    _installed()
    with marimo_server.serving(marimo_server.written(tmp_path_factory.mktemp("marimo"))) as url:
        page = browser.new_page(viewport={"width": 1400, "height": 3000}, color_scheme="light")
        page.set_default_timeout(MILLISECONDS)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: wrong.extend(_outside(request.url, url)))
        page.goto(url)
        page.get_by_text("held update").wait_for()
        yield page
        page.close()
        assert not wrong, "\n".join(wrong)


def _outside(asked: str, url: str) -> list[str]:
    return [] if asked.startswith((url, url.replace("http", "ws"), "data:", "blob:")) else [asked]


@pytest.fixture(scope="module")
def panel(page: Page) -> Locator:
    return page.locator(".jaxstage").filter(has_text="update(")


def test_the_panel_is_live_and_styled(panel: Locator) -> None:
    panel.get_by_role("tab", name="Cost", exact=True).click()
    panel.get_by_role("tabpanel", name="Cost").get_by_text("FLOP").first.wait_for()
    display = panel.locator(".jxs-tabs").evaluate("bar => getComputedStyle(bar).display")
    assert display == "flex"


def test_source_lines_have_the_name_of_their_cell(panel: Locator) -> None:
    panel.get_by_role("tab", name="Code", exact=True).click()
    source = panel.locator('[data-doc="python"]')
    source.get_by_text("# cell step").wait_for()
    source.get_by_text("jnp.tanh(x @ w)").wait_for()
    assert "__marimo__" not in panel.inner_text()


def test_the_theme_follows_the_page(page: Page, panel: Locator) -> None:
    colour = "panel => getComputedStyle(panel).colorScheme"
    assert panel.evaluate(colour) == "light"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.body.classList.contains('dark')")
    assert panel.evaluate(colour) == "dark"
    page.emulate_media(color_scheme="light")
    page.wait_for_function("document.body.classList.contains('light')")


def test_arrows_move_among_tabs_inside_the_shadow_root(page: Page, panel: Locator) -> None:
    tab = panel.get_by_role("tab", selected=True)
    tab.focus()
    page.keyboard.press("ArrowRight")
    focused = "panel => panel.getRootNode().activeElement?.getAttribute('role')"
    assert panel.evaluate(focused) == "tab"
    assert panel.evaluate("panel => panel.getRootNode().activeElement?.ariaSelected") == "false"


def test_the_log_of_compiles_is_live_and_names_cells(page: Page) -> None:
    log = page.locator(".jaxstage").filter(has_text="Compiles of this kernel")
    log.first.wait_for()
    assert "__marimo__" not in log.first.inner_text()


def test_an_error_is_that_of_jax(page: Page) -> None:
    page.get_by_text("contracting dimensions").first.wait_for()


def test_a_cell_that_runs_again_closes_its_panel(page: Page, panel: Locator) -> None:
    held = page.get_by_text("held update")
    before = held.inner_text()
    slider = page.get_by_role("slider").first
    for rows in (5, 6, 7):
        slider.focus()
        page.keyboard.press("ArrowRight")
        panel.get_by_text(f"f32[{rows},8]").first.wait_for()
    page.locator(".jaxstage").filter(has_text="f32[7,8]").first.wait_for()
    assert held.inner_text() == before
    assert panel.count() == 1


@pytest.mark.seldom("marimo export starts a kernel of its own, and has no part in what a page shows")
def test_an_exported_file_has_the_still_form_and_no_script_of_ours(tmp_path: Path) -> None:
    _installed()
    notebook = marimo_server.written(tmp_path)
    argv = [sys.executable, "-m", "marimo", "export", "html", notebook.name, "-o", "out.html"]
    subprocess.run(argv, cwd=tmp_path, env=marimo_server.environment(tmp_path), capture_output=True, timeout=SECONDS)
    text = (tmp_path / "out.html").read_text("utf-8")
    assert "update(" in text and "cell step" in text
    assert "marimo-anywidget" not in text and "jaxstage-loading" not in text
