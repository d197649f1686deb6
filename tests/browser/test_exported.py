"""Saved notebooks as other programs show them: converted, executed without a user, and on a host that strips styles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.cells import LOSS, SETUP
from tests.browser.code_host import sanitised
from tests.browser.notebook_page import pictured, written
from tests.browser.test_payloads import watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

SIGNATURE = "loss(w: f32[128,512]"
TARGETS = "%compile -t v5e:2x2 -t local loss(w, x)"
SHELL = "<!doctype html><meta charset=utf-8><body style='font:14px sans-serif;margin:24px'>"


@pytest.fixture(scope="module")
def saved(module_notebook: Opener, lab: Server) -> Path:
    """A notebook that was run and saved: a call, the same for two targets, and a chart."""
    notebook = module_notebook(lab, [SETUP, LOSS, TARGETS])
    notebook.run_all()
    notebook.panel(1).stage("compile", "done").wait_for()
    notebook.save()
    return notebook.path


def converted(path: Path, kind: str, *options: str) -> Path:
    command = [sys.executable, "-m", "nbconvert", "--to", kind, str(path), "--log-level=ERROR", *options]
    subprocess.run(command, check=True, cwd=path.parent, timeout=200)
    return path.with_suffix({"html": ".html", "markdown": ".md", "latex": ".tex"}[kind])


def offline(browser: Browser, path: Path, name: str) -> Page:
    """A page without a network; what it would have loaded is not an error of the page."""
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.route("http*://**", lambda route: route.abort())
    page.goto(path.as_uri())
    expect(page.get_by_text(SIGNATURE).first).to_be_visible()
    pictured(page, name, full_page=True)
    return page


def outputs(page: Page) -> str:
    return "\n".join(page.locator(".jp-OutputArea-output").all_inner_texts())


def test_nbconvert_to_html_shows_the_static_form(saved: Path, browser: Browser) -> None:
    page = offline(browser, converted(saved, "html"), "export_html")
    assert "compile" in outputs(page) and "jnp.tanh(x @ w)" in outputs(page)
    assert "model not found" not in page.inner_text("body")
    page.close()


def test_executed_by_nbconvert_it_is_the_same(lab: Server, browser: Browser) -> None:
    """nbclient saves the state of widgets, of which a page without a network shows nothing."""
    path = lab.folder / written(lab.folder, [SETUP, LOSS, "ins"])
    page = offline(browser, converted(path, "html", "--execute"), "export_executed_html")
    assert outputs(page).count(SIGNATURE) == 2
    html = path.with_suffix(".html").read_text()
    assert "widget-view+json" not in html and "html-manager" not in html
    page.close()


def test_nbconvert_to_markdown_keeps_the_report(saved: Path, browser: Browser) -> None:
    text = converted(saved, "markdown").read_text()
    assert SIGNATURE in text and "<script" not in text
    shown = saved.with_name("markdown.html")
    shown.write_text(SHELL + sanitised(text, images=False))
    offline(browser, shown, "export_markdown").close()


def test_nbconvert_to_latex_has_the_text_that_a_pdf_is_made_of(saved: Path) -> None:
    text = converted(saved, "latex").read_text()
    assert r"\begin{document}" in text
    assert "loss(w: f32[128,512]" in text.replace("\\_", "_").replace("{[}", "[").replace("{]}", "]")
    assert "tanh" in text


@pytest.mark.parametrize("images", [True, False], ids=["with images", "without images"])
def test_a_host_that_strips_styles_and_scripts_shows_all_of_it(saved: Path, browser: Browser, images: bool) -> None:
    for number, html in enumerate(htmls(saved)):
        shown = saved.with_name(f"host-{number}.html")
        shown.write_text(SHELL + sanitised(html, images))
        page = offline(browser, shown, f"export_code_host_{number}_{'images' if images else 'no_images'}")
        kept, whole = page.inner_text("body"), text_of(browser, html)
        assert squeezed(kept) == squeezed(whole)
        assert page.evaluate("document.querySelectorAll('[style], [class], script, style').length") == 1  # the shell's
        for image in page.locator("img").all():
            assert image.get_attribute("alt") is not None  # empty where the figure stands beside it
        page.close()


def test_the_static_form_is_the_same_after_jupyters_own_sanitiser(saved: Path) -> None:
    """nbconvert --HTMLExporter.sanitize_html, as sites use it that show notebooks of strangers."""
    page = converted(saved, "html", "--HTMLExporter.sanitize_html=True").read_text()
    assert SIGNATURE in page


def htmls(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [
        output.data["text/html"] for cell in cells for output in cell.get("outputs", []) if "text/html" in data(output)
    ]


def data(output: Any) -> Any:
    return output.get("data", {})


def text_of(browser: Browser, html: str) -> str:
    trouble: list[str] = []
    page = watched(browser, trouble)
    page.set_content(SHELL + html)
    text = page.inner_text("body")
    page.close()
    assert trouble == []
    return text


def squeezed(text: str) -> str:
    return "".join(text.split())
