"""The tabs that no program of `test_accessibility` has: by the same rules, and with the keyboard alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.axe import COLOURS, SCRIPT, violations
from tests.browser.cells import AGAIN, KERNEL, WITH_EFFECTS
from tests.browser.conftest import unavailable
from tests.browser.test_accessibility import WALK, opened, walked

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

VIEWS = [(0, "layouts"), (0, "effects"), (0, "options"), (1, "compiles"), (2, "compile_cache")]


@pytest.fixture(scope="module")
def notebook(module_notebook: Opener, lab: Server) -> NotebookPage:
    if not SCRIPT.exists():
        unavailable("axe-core is not installed: run npm ci in labextension")
    cells = [KERNEL, WITH_EFFECTS, AGAIN, "%compiles all", "%compile_cache"]
    ran = module_notebook(lab, cells, width=1400, height=1100)
    ran.run_all()
    ran.panel(2).root.locator("tbody [role=row]").first.wait_for()
    ran.page.evaluate(WALK)
    return ran


@pytest.mark.parametrize(("index", "view"), VIEWS, ids=[view for _, view in VIEWS])
def test_it_keeps_the_rules_and_tab_leads_to_every_control_once(notebook: NotebookPage, index: int, view: str) -> None:
    panel = opened(notebook, index, view)
    panel.root.locator(f'[data-view="{view}"]:not([role="tab"])').first.wait_for()
    notebook.screenshot(f"accessible-{view}")
    wrong = [*violations(panel.root), *walked(panel)]
    assert not wrong, "\n".join(wrong)


def test_in_the_dark_their_colours_keep_the_rules(notebook: NotebookPage) -> None:
    notebook.theme("Dark")
    wrong = []
    for index, view in VIEWS:
        wrong += [f"{view}: {line}" for line in violations(opened(notebook, index, view).root, COLOURS)]
        notebook.screenshot(f"accessible-{view}-dark")
    notebook.theme("Light")
    assert not wrong, "\n".join(wrong)
