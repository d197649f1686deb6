"""What a person could not read in a panel: text clipped or overlapping, empty charts, too little contrast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from playwright.sync_api import Locator

CONTRAST = 4.5
"""The least ratio of text to its ground, as WCAG's level AA has it; 3 for large text."""
DEFECTS = Path(__file__).with_suffix(".js").read_text()
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def assert_legible(panel: Locator) -> None:
    settle(panel)
    hidden = defects(panel)
    assert not hidden, "\n".join(hidden)


def defects(panel: Locator) -> list[str]:
    """What a person could not read of what the panel shows now, one line each: kind, selector, text, by how much."""
    panel.page.mouse.move(2, 2)
    panel.evaluate(SETTLED)
    lines: list[str] = panel.evaluate(DEFECTS, CONTRAST)
    return lines
