"""Texts that look like markup or code, in every field: the panel, the offline page and the static form show text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.cells import SETUP
from tests.browser.payloads import FAULTS, PAYLOADS, free, replaced

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

KEPT = ("views", "encoding")
"""Names of strings that a page is driven by: with another text there it has no tabs, or no documents."""


@pytest.fixture(scope="module")
def report() -> tuple[dict[str, Any], list[Any]]:
    """A saved inspection of two targets and a failed run, and where in it any text may stand."""
    import jax
    import jax.numpy as jnp

    import jaxstage_ext

    def loss(weights: Any, x: Any) -> Any:
        with jax.named_scope("head"):
            return jnp.sum(jnp.tanh(x @ weights["w"]) ** 2)

    x = jnp.ones((2, 4))
    made = jaxstage_ext.inspect(loss, {"w": jnp.ones((4, 8))}, x, target=["local", "cpu:2"])
    plain = json.loads(made.to_json())
    plain["summary"]["notes"] = ["a note"]
    plain["summary"]["error"] = {
        "stage": "run", "type": "Error", "message": "it failed", "interrupted": False,
        "file": "file.py", "label": "file.py", "line": 1,
    }  # fmt: skip
    places = [place for place in free(plain, opens) if not set(KEPT) & set(place)]
    return plain, places


def opens(report: Any) -> bool:
    import jaxstage_ext

    try:
        jaxstage_ext.Inspection.from_json(json.dumps(report))
    except ValueError:
        return False
    return True


def with_lines(report: dict[str, Any], text: str) -> dict[str, Any]:
    """The report with this text in the middle of every document."""
    import jaxstage_ext
    from jaxstage_ext.report.packed_columns import compressed

    opened = jaxstage_ext.Inspection.from_json(json.dumps(report))
    for kind, document in report["documents"].items():
        lines = opened.documents[kind].text.split("\n")
        lines[len(lines) // 2] = text.replace("\n", " ")
        document["text"]["data"] = compressed("\n".join(lines).encode("utf-8", "surrogatepass"))
    return report


def watched(browser: Browser, trouble: list[str]) -> Page:
    """A page whose requests, errors and dialogs are trouble."""
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.on(
        "request", lambda request: None if request.url.startswith(("file:", "blob:")) else trouble.append(request.url)
    )
    page.on("pageerror", lambda error: trouble.append(f"{error.message}\n{error.stack}"))
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: (trouble.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
    return page


def walk(page: Page) -> None:
    """Open every tab and pane, and point at a row of each."""
    panel = page.locator(".jaxstage").first
    panel.wait_for()
    for tab in panel.locator('[role="tab"]').all():
        tab.click()
    panel.locator('[role="tab"][data-view="code"]').click()
    for toggle in panel.locator('[role="group"][aria-label="panes"] [data-toggle][aria-pressed="false"]').all():
        toggle.click()
    for pane in panel.locator("[data-doc]").all():
        pane.locator("[data-row]").first.wait_for()
        pane.locator("[data-row]").last.hover(position={"x": 5, "y": 5})


def test_in_every_field_of_a_saved_report_they_stay_text(
    browser: Browser, report: tuple[dict[str, Any], list[Any]], tmp_path: Path
) -> None:
    import jaxstage_ext
    from jaxstage_ext.views.static_html import panel_html

    plain, places = report
    assert len(places) > 150
    trouble: list[str] = []
    page = watched(browser, trouble)
    for name, text in PAYLOADS.items():
        made = jaxstage_ext.Inspection.from_json(json.dumps(with_lines(replaced(plain, places, text), text)))
        made.to_html(file := tmp_path / "page.html")
        page.goto(file.as_uri())
        walk(page)
        assert page.evaluate(FAULTS) == [], name
        if text.isascii() and text.isprintable() and len(text) < 200:
            assert text in page.locator(".jxs-signature").first.inner_text(), name
        file.write_text(f"<!doctype html><meta charset=utf-8>{panel_html([made.program])}", errors="replace")
        page.goto(file.as_uri())
        assert page.evaluate(FAULTS) == [], f"{name}, static form"
        assert trouble == [], name
    page.close()


LIVE = """
import json
from pathlib import Path
%load_ext jaxstage_ext
payloads = json.loads(Path({file!r}).read_text())
"""
"""The payloads travel in a file, because a notebook's own text cannot hold all of them."""
EVERY_FIELD = """
def named(text):
    def function(x, tree):
        with jax.named_scope(text):
            y = jnp.tanh(x) * next(iter(tree.values()))
        return {text: y}
    function.__name__ = function.__qualname__ = text
    return function

trees = [{text[:5000]: x} for text in payloads]
functions = [named(text[:5000]) for text in payloads]
"""
CALLS = "%compile {calls}"
FAILING = """
def failing(text):
    def function(x):
        raise ValueError(text)
    return function
failures = [failing(text) for text in payloads]
"""


def test_in_what_a_live_panel_and_a_saved_notebook_show_they_stay_text(
    open_notebook: Opener, lab: Server, browser: Browser
) -> None:
    (lab.folder / "payloads.json").write_text(json.dumps(list(PAYLOADS.values())))
    count = len(PAYLOADS)
    calls = "; ".join(f"functions[{i}](x, trees[{i}])" for i in range(count))
    failures = "; ".join(f"failures[{i}](x)" for i in range(count))
    notebook = open_notebook(
        lab,
        [
            SETUP + LIVE.format(file="payloads.json"),
            EVERY_FIELD + FAILING,
            CALLS.format(calls=calls),
            CALLS.format(calls=failures),
        ],
        height=1800,
    )
    notebook.run_all()
    for index in (0, 1):
        panel = notebook.panel(index)
        picker = panel.root.locator(".jxs-picker")
        assert picker.locator("option").count() == count
        for number in range(count):
            picker.select_option(index=number)
            if index == 0:
                panel.stage("compile", "done").wait_for()
                panel.show_panes("jaxpr", "stablehlo", "hlo")
                panel.row("jaxpr", "tanh").hover()
            else:
                panel.root.locator(".jxs-failure").wait_for()
            assert notebook.page.evaluate(FAULTS) == []
    notebook.save()
    saved = json.loads(notebook.path.read_text())
    for output in (output for cell in saved["cells"] for output in cell["outputs"] if "data" in output):
        trouble: list[str] = []
        page = watched(browser, trouble)
        html = "".join(output["data"]["text/html"])
        (file := lab.folder / "saved.html").write_text(f"<!doctype html><meta charset=utf-8>{html}", errors="replace")
        page.goto(file.as_uri())
        assert "mark" in page.inner_text("body")
        assert page.evaluate(FAULTS) == []
        assert trouble == []
        page.close()
