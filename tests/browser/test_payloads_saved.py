"""Saved outputs of strangers, in the extension: nothing in them runs, is fetched, or breaks the page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from tests.browser.cells import AGAIN, KERNEL, WITH_EFFECTS
from tests.browser.notebook_page import PATIENCE
from tests.browser.payloads import EACH_AND_AT_ONCE, FAULTS, Path, Texts, replaced, strings
from tests.browser.saved_payloads import KEYS, drawn, payload, reports_of, show, walk, whole_report, with_keys

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

POLLUTED = "() => [Object.keys(Object.prototype).length, ({}).polluted, [].polluted, window.pwned]"
DRIVES = ("jaxstage", "views", "kind", "dtype", "data", "buffers", "target", "order", "state", "view", "format")
"""Names of strings that decide what is drawn: another text there only leaves views out."""
OF_THE_KERNEL = {"code", "layouts", "effects", "options", "compiles", "compile_cache"}


@pytest.fixture
def untrusted(open_notebook: Opener, lab: Server) -> NotebookPage:
    """An open notebook whose outputs are given by the test; a request or an error of the page fails it."""
    return open_notebook(lab, ["1"], width=1500, height=1100)


def harmless(notebook: NotebookPage, what: str) -> None:
    assert notebook.page.evaluate(FAULTS) == [], what
    assert notebook.page.evaluate(POLLUTED) == [0, None, None, None], what
    assert notebook.errors == [], what


def drives(place: Path) -> bool:
    return any(step in DRIVES for step in place)


@EACH_AND_AT_ONCE
def test_in_every_text_of_a_saved_report_they_stay_text(untrusted: NotebookPage, texts: Texts) -> None:
    whole = whole_report()
    places = [place for place in strings(whole) if not drives(place)]
    assert len(places) > 500
    views = 0
    for name, text in texts.items():
        show(untrusted, payload(replaced(whole, places, text[:5000])), text[:5000])
        if drawn(untrusted):
            views += walk(untrusted)
        harmless(untrusted, name)
    assert views > 10 * len(texts), "most payloads leave the panel with its tabs"
    untrusted.screenshot("saved_payloads")


@EACH_AND_AT_ONCE
def test_in_every_text_that_a_kernel_saved_they_stay_text(
    open_notebook: Opener, lab: Server, untrusted: NotebookPage, texts: Texts
) -> None:
    """Of the tabs whose recorded replies are empty tables, or that a view of the kernel has alone."""
    whole = saved_by_a_kernel(open_notebook(lab, [KERNEL, WITH_EFFECTS, AGAIN, "%compiles all", "%compile_cache"]))
    places, views = [place for place in strings(whole) if not drives(place)], 0
    for name, text in texts.items():
        show(untrusted, payload(replaced(whole, places, text[:5000])), text[:5000])
        views += walk(untrusted) if drawn(untrusted) else 0
        harmless(untrusted, name)
    assert views > 5 * len(texts), "most payloads leave the panel with its tabs"
    show(untrusted, payload(with_keys(whole, {key: {"polluted": 1} for key in KEYS})))
    assert drawn(untrusted) and walk(untrusted) >= len(OF_THE_KERNEL)
    harmless(untrusted, "keys")
    untrusted.screenshot("saved_payloads_of_a_kernel")


def saved_by_a_kernel(notebook: NotebookPage) -> list[Any]:
    """The reports once what the page looked at is in the notebook, a moment after it has."""
    notebook.run_all()
    panel = notebook.panel()
    for tab in ("layouts", "effects", "options"):
        panel.tab(tab).click()
        panel.root.locator(f'[data-view="{tab}"]:not([role="tab"]) [role="row"]').first.wait_for()
    until = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        notebook.page.wait_for_timeout(200)
        notebook.save()
        reports = reports_of(nbformat.read(notebook.path, as_version=4))
        if {view for report in reports for view in report["summary"]["views"]} >= OF_THE_KERNEL:
            return reports
    raise AssertionError("not every tab that was looked at is in the saved notebook")
