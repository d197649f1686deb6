"""The cost tab: what bounds the program, who spends it, and the way from there to the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jaxstage_ext.core import packages
from tests.browser.cells import LOSS, SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import PanelOnPage
    from tests.browser.servers import Server

FOR_V5E = LOSS.replace("%%compile -o ins", "%%compile -t v5e:1x1")
LOOK_MS = 60_000


def open_cost(panel: PanelOnPage, section: str) -> None:
    panel.tab("cost").click()
    panel.root.locator(".jxs-verdict").wait_for(timeout=LOOK_MS)
    panel.root.locator(f'[data-section="{section}"]').click()


def test_a_line_of_the_table_leads_to_the_code(open_notebook: Opener, lab: Server) -> None:
    opened = open_notebook(lab, [SETUP, LOSS])
    opened.run_all()
    panel = opened.panel()
    open_cost(panel, "table")
    first = panel.root.locator(".jxs-grid-row[data-row]").first
    first.wait_for(timeout=LOOK_MS)
    panel.root.locator('[data-group="instruction"]').click()
    panel.root.locator(".jxs-grid-row", has_text="fusion").first.click()
    panel.root.get_by_role("button", name="Show in the code").click()
    assert any("fusion" in line for line in panel.wait_lit("hlo", "selected"))


def test_heat_stands_beside_the_lines(open_notebook: Opener, lab: Server) -> None:
    opened = open_notebook(lab, [SETUP, LOSS])
    opened.run_all()
    panel = opened.panel()
    assert panel.root.locator(".jxs-heat").count() == 0
    panel.root.locator(".jxs-heat-picker select").select_option("FLOPs")
    bar = panel.row("python", "softmax(h)").locator(".jxs-heat")
    bar.wait_for(timeout=LOOK_MS)
    assert "FLOP" in (bar.get_attribute("title") or "")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_every_section_on_a_device_of_the_catalogue(open_notebook: Opener, lab: Server, theme: str) -> None:
    if lacks := packages.find("tpu").lacks:
        pytest.skip(f"v5e {lacks}")
    opened = open_notebook(lab, [SETUP, FOR_V5E], width=1400)
    opened.theme(theme)
    opened.run_all()
    panel = opened.panel()
    for section, there in (
        ("roofline", ".jxs-chart canvas"),
        ("icicle", ".jxs-icicle canvas"),
        ("ledger", ".jxs-ledger table"),
        ("table", ".jxs-grid-row[data-row]"),
    ):
        open_cost(panel, section)
        panel.root.locator(there).first.wait_for(timeout=LOOK_MS)
    assert "Bound by" in panel.root.locator(".jxs-verdict").inner_text()
    opened.theme("Light")
