"""The map of the layouts of a search: what drawing 330 and 50,000 points takes, and moving over them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.table import row

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]
ROOT = str(Path(__file__).parents[2])
CELL = """
import sys
sys.path.insert(0, {root!r})
import jax.numpy as jnp, jaxstage_ext
from tests.helpers.made_searches import MadeSearch, keep, many
ins = jaxstage_ext.inspect(jnp.tanh, jnp.ones(8), stage="lower")
keep(ins.program, MadeSearch(many({count})))
ins
"""
WATCH = """() => {
    const own = window.requestAnimationFrame.bind(window);
    window.jxsFrames = [];
    window.requestAnimationFrame = callback => own(time => {
        const started = performance.now();
        callback(time);
        window.jxsFrames.push(performance.now() - started);
    });
}"""
MOVE = """async () => {
    const canvas = document.querySelector('.jp-OutputArea-output .jxs-ss-map canvas[tabindex]');
    const box = canvas.getBoundingClientRect();
    const worst = [];
    for (let i = 0; i < 60; i++) {
        const [x, y] = [((i * 37) % 100) / 100, ((i * 53) % 100) / 100];
        const at = {clientX: box.left + box.width * x, clientY: box.top + box.height * y};
        window.jxsFrames.length = 0;
        const started = performance.now();
        canvas.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, ...at}));
        await null;
        const sync = performance.now() - started;
        await new Promise(done => setTimeout(done, 30));
        worst.push(sync + window.jxsFrames.reduce((sum, one) => sum + one, 0));
    }
    worst.sort((a, b) => a - b);
    return worst[57];
}"""


@pytest.mark.parametrize(("count", "most"), [(330, 50), (50_000, 400)])
def test_the_map_is_drawn_and_moved_over(lab: Server, open_notebook: Opener, count: int, most: int) -> None:
    notebook = open_notebook(lab, [CELL.format(root=ROOT, count=count)], width=1400)
    notebook.page.evaluate(WATCH)
    notebook.run_all()
    root, page = notebook.panel().root, notebook.page
    root.locator(".jxs-ss-detail").wait_for(timeout=120_000)
    if count > 2000:
        page.evaluate("() => { window.jxsFrames.length = 0; }")
        root.get_by_role("button", name="draw all").click()
        root.locator(f'canvas[aria-label^="Map of {count:,} "]').wait_for(timeout=120_000)
    page.wait_for_timeout(500)
    drawn = page.evaluate("() => Math.max(...window.jxsFrames)")
    row(
        f"map of {count:,} layouts: the longest frame",
        f"{drawn:.0f} ms",
        "all of it drawn",
        f"<= {most} ms",
        drawn <= most,
    )
    moved = page.evaluate(MOVE)
    row("the same: p95 of a move of the pointer", f"{moved:.1f} ms", "", "<= 16 ms", moved <= 16)
