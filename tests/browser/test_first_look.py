"""The first notebook as a newcomer goes through it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "01_first_look.ipynb"


def test_the_softmax_line_leads_to_its_fusions(open_notebook: Opener, lab: Server) -> None:
    shutil.copy(NOTEBOOK, lab.folder)
    notebook = open_notebook(lab, NOTEBOOK.name)
    notebook.run_all()
    expect(notebook.panels()).to_have_count(2)
    panel = notebook.panel(0)
    panel.show_panes("python", "hlo")
    panel.row("python", "jax.nn.softmax(h)").locator(".jxs-num").click()
    panel.reveal("hlo", "ROOT %")
    panel.pane("hlo").locator(".jxs-code").press("End")
    assert len([row for row in panel.wait_lit("hlo") if " fusion(" in row]) == 3
