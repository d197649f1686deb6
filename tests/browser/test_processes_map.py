"""The map of a program over several processes, saved in one of them and opened in a kernel without their devices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.legible import assert_legible

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

SAVED = Path(__file__).parents[1] / "golden" / "processes"
"""Inspections that `tests/golden/processes/job.py` saved in process 0 of two, four devices each."""
OPENED = "import jaxstage_ext\njaxstage_ext.Inspection.from_json(open({path!r}).read())"
NAMES = ("in_order", "in_turn", "mixed")


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    cells = [OPENED.format(path=str(SAVED / f"{name}.json")) for name in NAMES]
    made = module_notebook(lab, cells, width=1400)
    made.run_all()
    for at in range(len(NAMES)):
        made.panel(at).tab("shardings").click()
        made.panels().nth(at).locator(".jxs-map-cell").first.wait_for()
    return made


def texts(found: Locator) -> list[str]:
    return [text.strip() for text in found.all_inner_texts()]


@pytest.mark.seldom(
    "which lines are of one process is in meshMap.test.ts, that shardings are saved in test_saved_shardings.py"
)
def test_processes_are_named_beside_rows_above_columns_or_in_each_cell(notebook: NotebookPage) -> None:
    by_row, by_column, mixed = (notebook.panels().nth(at) for at in range(len(NAMES)))
    for panel in (by_row, by_column):
        assert texts(panel.locator(".jxs-map-process")) == ["process 0", "process 1"]
        assert panel.locator(".jxs-map-where").count() == 0
    assert mixed.locator(".jxs-map-process").count() == 0
    assert texts(mixed.locator(".jxs-map-where")) == [f"process {at}" for at in (0, 1, 1, 0, 0, 1, 0, 1)]
    for panel in (by_row, by_column, mixed):
        assert "8 devices of 2 processes" in panel.locator(".jxs-shardings-head").inner_text()
        assert "per process" in panel.locator(".jxs-map-facts").inner_text()


@pytest.mark.seldom("legibility of the map is in test_shardings_view.py; here processes are named on it")
@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1400, 900])
def test_they_can_be_read(notebook: NotebookPage, theme: str, width: int) -> None:
    notebook.theme(theme)
    notebook.page.set_viewport_size({"width": width, "height": 1000})
    for at, name in enumerate(NAMES):
        panel = notebook.panel(at)
        panel.root.scroll_into_view_if_needed()
        notebook.screenshot(f"processes-{name}-{theme}-{width}")
        assert_legible(panel.root)
    notebook.theme("Light")
