"""What the JupyterLab extension costs at JupyterLab's start."""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmarks.table import row

pytestmark = pytest.mark.benchmark

WATCH_TASKS = """new PerformanceObserver(list => {
    window.jxsLong = [...(window.jxsLong ?? []), ...list.getEntries().map(({startTime, duration, scripts}) => ({
        startTime, duration, ours: scripts.filter(({sourceURL}) => sourceURL.includes('/extensions/jaxstage/'))
            .reduce((all, {duration}) => all + duration, 0),
    }))];
}).observe({type: 'long-animation-frame', buffered: true});"""
LOADED = """() => performance.getEntriesByType('resource').filter(({name}) => name.includes('/extensions/jaxstage/'))
    .map(({name, decodedBodySize}) => [name.split('/').pop().split('?')[0], decodedBodySize])"""


def test_at_the_start_of_lab(lab, open_notebook) -> None:
    notebook = open_notebook(lab, ["1"])
    page = notebook.page
    page.add_init_script(WATCH_TASKS)
    page.reload()
    page.wait_for_function("() => !!window.jupyterapp")
    page.evaluate("() => window.jupyterapp.restored.then(() => true)")
    notebook.wait_idle()
    loaded: list[Any] = page.evaluate(LOADED)
    size = sum(bytes_ for _, bytes_ in loaded) / 1e3
    row("scripts at Lab's start", f"{size:.1f} kB", f"{len(loaded)} files", "0 to 60 kB", 0 < size < 60)
    ours = max((task["ours"] for task in page.evaluate("() => window.jxsLong ?? []")), default=0)
    row("longest time of ours in a long frame there", f"{ours:.0f} ms", "", "< 50 ms", ours < 50)
