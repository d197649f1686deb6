"""A server with a strict Content-Security-Policy: saved panels work, and a live one that is blocked is one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.cells import LOSS, SETUP
from tests.browser.notebook_page import NotebookPage, written
from tests.browser.saved_payloads import drawn, payload, show, walk, whole_report
from tests.browser.servers import Server, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'self'; object-src 'none'; base-uri 'self'"
)
"""No inline scripts, no blob: addresses. JupyterLab itself evaluates code and writes styles."""


@pytest.fixture(scope="module")
def strict_lab(tmp_path_factory: pytest.TempPathFactory, mother: Path) -> Iterator[Server]:
    policy = f"--ServerApp.tornado_settings={ {'headers': {'Content-Security-Policy': POLICY}}!r}"
    with running("lab", tmp_path_factory.mktemp("strict"), policy, mother=mother) as server:
        yield server


def test_where_scripts_from_blobs_are_forbidden_the_saved_report_stands_in_the_live_panels_place(
    browser: Browser, strict_lab: Server
) -> None:
    name = written(strict_lab.folder, [SETUP, LOSS])
    strict_lab.start_kernel(name)
    notebook = NotebookPage(browser.new_page(viewport={"width": 1400, "height": 1000}), strict_lab, name)
    notebook.open()
    notebook.run_all()
    line = notebook.page.locator(".jaxstage-note", has_text="Content-Security-Policy needs blob: in script-src")
    line.wait_for()
    notebook.panel().stage("compile", "done").wait_for()
    assert not notebook.page.locator(".jupyter-widgets-error-widget").count()
    notebook.screenshot("page_policy_blocked")
    show(notebook, payload(whole_report()))
    assert drawn(notebook)
    assert walk(notebook) > 20
    ours = [error for error in notebook.errors if "jaxstage" in error]
    assert ours == []
    notebook.page.close()
