"""Every tab in both themes, wide and narrow: nothing clipped, nothing overlapping, no empty chart, all can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.legible import defects
from tests.browser.notebook_page import settle
from tests.browser.test_shardings_view import ON_CPUS, SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    opened = module_notebook(lab, [SETUP, ON_CPUS], width=1400, height=1100)
    opened.run_all()
    opened.panel().stage("compile", "done").wait_for()
    return opened


@pytest.mark.parametrize("width", [1400, 900])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_every_tab_can_be_read(notebook: NotebookPage, theme: str, width: int) -> None:
    notebook.theme(theme)
    notebook.page.set_viewport_size({"width": width, "height": 1100})
    panel, told = notebook.panel(), []
    for tab in panel.root.get_by_role("tab").evaluate_all("tabs => tabs.map(tab => tab.dataset.view)"):
        panel.tab(tab).click()
        settle(panel.root)
        notebook.screenshot(f"legible-{tab}-{theme}-{width}")
        told += [f"{tab}: {defect}" for defect in defects(panel.root)]
    notebook.theme("Light")
    assert not told, "\n".join(told)
