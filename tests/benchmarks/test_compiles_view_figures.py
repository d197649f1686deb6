"""What the compiles tab takes for a log of 10,000 lines, in the kernel and in the page."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.showing import compiles_display
from tests.benchmarks.table import row, seconds
from tests.benchmarks.ten_thousand_compiles import COUNT, history

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[2]
CELL = """
import sys
sys.path[:0] = [{root!r}, {root!r} + "/tests/helpers"]
from jaxstage_ext.panel.showing import compiles_display
from tests.benchmarks.ten_thousand_compiles import history

class Shown:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return compiles_display.mimebundle(history())
"""
SORT = """async selector => {
    const took = [];
    for (const name of ['own', 'why', 'function', 'number']) {
        const started = performance.now();
        document.querySelector(`${selector} [data-sort="${name}"]`).click();
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        took.push(performance.now() - started);
    }
    return took;
}"""


def test_the_list_of_a_long_session_is_answered_at_once() -> None:
    program: Any = compiles_display._program(history(), "", ())
    methods = dispatch.methods()

    def listed() -> Any:
        return answered_at_once(methods["compiles"], [program], {})

    listed()
    first = statistics.median(seconds(listed) for _ in range(5)) * 1e3
    result, buffers = listed()
    size = (sum(map(len, buffers)) + len(json.dumps(result))) / 1e3
    row(f"compiles tab, {COUNT:,} records: the list", f"{first:.0f} ms", f"{size:.0f} kB", "<= 100 ms", first <= 100)
    took = seconds(lambda: answered_at_once(methods["compiles_causes"], [program], {}))
    row("the same: all causes, once", f"{took:.2f} s", f"{took / COUNT * 1e6:.0f} us each", "<= 5 s", took <= 5)
    again = seconds(lambda: answered_at_once(methods["compiles_causes"], [program], {}))
    row("the same: causes that are known", f"{again * 1e3:.0f} ms", "", "<= 1.5 s", again <= 1.5)


def test_the_list_of_a_long_session_in_the_page(lab: Server, open_notebook: Opener) -> None:
    notebook = open_notebook(lab, ["%load_ext jaxstage_ext", CELL.format(root=str(ROOT)), "Shown()"])
    notebook.run_all()
    panel, page = notebook.panel(), notebook.page
    panel.root.locator(".jxs-co-list [data-row]").first.wait_for()
    panel.root.locator(".jxs-co-verdict:not(.jxs-dim)").wait_for(timeout=120_000)
    drawn = panel.root.locator(".jxs-co-list [data-row]").count()
    took = page.evaluate(SORT, ".jp-OutputArea-output .jaxstage .jxs-co-list")
    row(
        f"the same in the page: sorting {COUNT:,} rows",
        f"{max(took):.0f} ms",
        f"{drawn} rows drawn",
        "<= 300 ms",
        max(took) <= 300 and drawn < 200,
    )
