"""Texts that look like markup or code, in what functions put in a live panel and a saved notebook, stay text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.browser.cells import SETUP
from tests.browser.payloads import FAULTS, PAYLOADS
from tests.browser.test_payloads import watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

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
CALLS = """
try:
    get_ipython().run_line_magic("compile", {calls!r})
except Exception as error:
    print("ended by", type(error).__name__)
"""
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
    shown = 0
    for index in (0, 1):
        panel = notebook.panel(index)
        picker = panel.root.locator(".jxs-picker")
        assert picker.locator("option").count() == count
        for number in range(count):
            picker.select_option(index=number)
            if index == 0:
                ended = panel.stage("compile", "done").or_(panel.root.locator(".jxs-failure"))
                ended.first.wait_for()
                if panel.stage("compile", "done").count():
                    panel.show_panes("jaxpr", "stablehlo", "hlo")
                    panel.row("jaxpr", "tanh").hover()
                    shown += 1
            else:
                panel.root.locator(".jxs-failure").wait_for()
            assert notebook.page.evaluate(FAULTS) == []
    assert shown >= count - 2, "JAX refuses a name that is not UTF-8, and one with a NUL"
    notebook.save()
    saved = json.loads(notebook.path.read_text())
    for output in (output for cell in saved["cells"] for output in cell["outputs"] if "data" in output):
        trouble: list[str] = []
        page = watched(browser, trouble)
        html = "".join(output["data"]["text/html"])
        (file := lab.folder / "saved.html").write_text(f"<!doctype html><meta charset=utf-8>{html}", errors="replace")
        page.goto(file.as_uri())
        assert "s[0](x: f32[8,128]" in page.inner_text("body")
        assert page.evaluate(FAULTS) == []
        assert trouble == []
        page.close()
