"""Saved outputs of strangers, in the extension: nothing in them runs, is fetched, or breaks the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.payloads import FAULTS, PAYLOADS, Path, replaced, strings
from tests.browser.saved_payloads import drawn, payload, show, walk, whole_report

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

POLLUTED = "() => [Object.keys(Object.prototype).length, ({}).polluted, [].polluted, window.pwned]"
DRIVES = ("jaxstage", "views", "kind", "dtype", "data", "buffers", "target", "order", "state", "view", "format")
"""Names of strings that decide what is drawn: another text there only leaves views out."""


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


def test_in_every_text_of_a_saved_report_they_stay_text(untrusted: NotebookPage) -> None:
    whole = whole_report()
    places = [place for place in strings(whole) if not drives(place)]
    assert len(places) > 500
    views = 0
    for name, text in PAYLOADS.items():
        show(untrusted, payload(replaced(whole, places, text[:5000])), text[:5000])
        if drawn(untrusted):
            views += walk(untrusted)
        harmless(untrusted, name)
    assert views > 10 * len(PAYLOADS), "most payloads leave the panel with its tabs"
    untrusted.screenshot("saved_payloads")
