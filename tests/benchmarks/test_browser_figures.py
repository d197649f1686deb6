"""What a person waits for in the browser, measured in the page of a real JupyterLab."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from jaxstage_ext.panel import search
from tests.benchmarks.table import row, seconds

pytestmark = pytest.mark.benchmark

HERE = Path(__file__).parent

WATCH = """() => {
    window.jxsTasks = [];
    new PerformanceObserver(list => {
        for (const task of list.getEntries()) window.jxsTasks.push(task.duration);
    }).observe({type: 'longtask'});
}"""

TOGGLE = """async name => {
    const panel = document.querySelector('.jp-OutputArea-output .jaxstage');
    const started = performance.now();
    panel.querySelector(`[data-toggle="${name}"]`).click();
    for (;;) {
        await new Promise(requestAnimationFrame);
        if (panel.querySelector('[data-doc="stablehlo"] [data-row] .jxs-line')?.textContent.trim()) break;
        if (performance.now() - started > 20000) return -1;
    }
    await new Promise(requestAnimationFrame);
    return performance.now() - started;
}"""

SCROLL = """async () => {
    const code = document.querySelector('.jp-OutputArea-output [data-doc="stablehlo"] .jxs-code');
    window.jxsTasks.length = 0;
    for (let i = 0; i < 120; i++) {
        code.scrollTop += 90;
        await new Promise(requestAnimationFrame);
    }
    for (let i = 0; i < 40; i++) {
        code.scrollTop = ((i * 7919) % 997) / 997 * code.scrollHeight;
        await new Promise(requestAnimationFrame);
    }
    await new Promise(done => setTimeout(done, 300));
    return Math.max(0, ...window.jxsTasks);
}"""

SEARCH = """async query => {
    const pane = document.querySelector('.jp-OutputArea-output [data-doc="stablehlo"]');
    pane.querySelector('[aria-label^="Search this pane"]').click();
    let input;
    while (!(input = pane.querySelector('.jxs-search input'))) await new Promise(requestAnimationFrame);
    input.value = '';
    input.dispatchEvent(new Event('input', {bubbles: true}));
    await new Promise(done => setTimeout(done, 300));
    const started = performance.now();
    input.value = query;
    input.dispatchEvent(new Event('input', {bubbles: true}));
    for (;;) {
        await new Promise(requestAnimationFrame);
        const hits = pane.querySelector('.jxs-hits').textContent;
        if (/\\d|no hits/.test(hits)) return [performance.now() - started, hits];
        if (performance.now() - started > 20000) return [-1, hits];
    }
}"""


QUERIES = ("%fusion.499997", "KLOOP", "not there")


def test_search_in_half_a_million_lines_in_the_kernel() -> None:
    """One pass through 75 MB of text, in which Python reads memory as fast as it can.

    In the page a search takes the way of two messages through JupyterLab's server and two frames more, 40 to 90 ms as
    the machine is busy, of which nothing is ours; together they are held to 150 ms below.
    """
    made = (HERE / "half_a_million.py").read_text()
    cell = made.partition("\nsmall = ")[0]
    space: dict[str, Any] = {}
    exec(cell, space)
    search.find(space["big"], "", False)
    for query in QUERIES:
        taken = min(
            seconds(lambda query=query: search.find(space["big"], query, False), time.process_time) for _ in range(7)
        )
        row(f"500,000 lines: search {query!r} in the kernel", f"{taken * 1e3:.0f} ms", "", "<= 60 ms", taken <= 0.06)


def test_half_a_million_lines(lab, open_notebook) -> None:
    notebook = open_notebook(lab, [(HERE / "half_a_million.py").read_text()])
    notebook.run_all()
    panel = notebook.panel()
    panel.show_panes("stablehlo")
    page = notebook.page
    page.evaluate(WATCH)
    times = []
    for _ in range(5):
        panel.show_panes("python")
        page.wait_for_timeout(300)
        times.append(page.evaluate(TOGGLE, "stablehlo"))
    again = sorted(times)[2]
    notebook.save()
    page.reload()
    page.wait_for_function("() => !!window.jupyterapp")
    page.evaluate("() => window.jupyterapp.restored.then(() => true)")
    panel = notebook.panel()
    page.evaluate(WATCH)
    panel.show_panes("python")
    first = page.evaluate(TOGGLE, "stablehlo")
    row(
        "500,000 lines: pane painted, first time in a page",
        f"{first:.0f} ms",
        f"{again:.0f} ms when seen before",
        "<= 300 ms",
        first <= 300,
    )
    longest = page.evaluate(SCROLL)
    row(
        "the same: longest task while scrolling and jumping",
        f"{longest:.0f} ms",
        "0: none over 50 ms",
        "<= 50 ms",
        longest <= 50,
    )
    for query in QUERIES:
        took, hits = page.evaluate(SEARCH, query)
        row(f"the same: search {query!r}", f"{took:.0f} ms", hits, "< 150 ms", 0 <= took < 150)
        panel.clear()


def test_what_a_notebook_keeps(lab, open_notebook) -> None:
    model = (HERE / "model.py").read_text()
    notebook = open_notebook(
        lab, ["%load_ext jaxstage_ext", model, "train_step, arguments = step(4)", "%compile train_step(*arguments)"]
    )
    notebook.run_all()
    notebook.panel().stage("compile", "done").wait_for()
    notebook.save()
    saved = json.loads(notebook.path.read_text())
    size = len(json.dumps(saved["cells"][-1]["outputs"])) / 1e3
    whole = sum(len(json.dumps(cell["source"])) for cell in saved["cells"]) / 1e3
    row("saved output of the 4-layer step", f"{size:.0f} kB", f"{whole:.0f} kB of source", "<= 300 kB", size <= 300)
    assert not saved["metadata"].get("widgets"), "widget state was saved too"
