"""How fast the views of numbers open, and how smoothly they draw, in the page of a real JupyterLab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.core.targets import packages
from tests.benchmarks.table import row

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
LAYERS = 16
VIEWS = {
    "cost": ".jxs-cost .jxs-grid-row[data-row]",
    "memory": ".jxs-mem-part tbody tr",
    "shardings": ".jxs-shardings .jxs-grid-row[data-row]",
    "collectives": '[data-view="collectives"] .jxs-grid-row[data-row]',
    "dtypes": '[data-view="dtypes"] .jxs-grid-row[data-row], [data-view="dtypes"] .jxs-note',
}
TARGET = "cpu:2" if packages.find("tpu").lacks else "v5e:2x2"
STEP = "%compile -t {} --mesh data=2 --in-spec \"words=P('data')\" train_step(*arguments)"
SECTION = '[data-section="roofline"]'
ROOFLINE = ".jxs-chart canvas, .jxs-cost .jxs-ledger .jxs-note"
"""The chart, or why there is none: a CPU has no peaks."""
FRAMES = 120
VSYNC = 1000 / 60

OPEN = """async ([button, ready]) => {
    const panel = document.querySelector('.jp-OutputArea-output .jaxstage');
    const started = performance.now();
    panel.querySelector(button).click();
    while (!panel.querySelector(ready)) {
        await new Promise(requestAnimationFrame);
        if (performance.now() - started > 240000) throw new Error(`nothing is ${ready}`);
    }
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - started;
}"""

MOVE = """async ([selector, what, frames]) => {
    const element = document.querySelector('.jp-OutputArea-output .jaxstage ' + selector);
    element.scrollIntoView({block: 'center'});
    const deltas = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < frames; i++) {
        performance.mark('jxs-frame');
        const box = element.getBoundingClientRect();
        const at = {
            clientX: box.left + box.width * (0.5 + 0.45 * Math.sin(i / 7)),
            clientY: box.top + box.height * (0.5 + 0.45 * Math.cos(i / 11)),
            bubbles: true, cancelable: true,
        };
        element.dispatchEvent(new PointerEvent('pointermove', at));
        element.dispatchEvent(new MouseEvent('mousemove', at));
        const turn = (more) => element.dispatchEvent(new WheelEvent('wheel', {...at, ...more}));
        if (what === 'zoom') turn({ctrlKey: true, deltaY: i % 40 < 20 ? -1 : 1});
        if (what === 'scroll') turn({deltaX: i % 60 < 30 ? 20 : -20});
        if (what === 'enter' && i % 4 === 0) element.dispatchEvent(new MouseEvent('click', at));
        const out = new KeyboardEvent('keydown', {key: 'Escape', bubbles: true});
        if (what === 'enter' && i % 4 === 2) element.dispatchEvent(out);
        const now = await new Promise(requestAnimationFrame);
        deltas.push(now - last);
        last = now;
    }
    performance.mark('jxs-frame');
    return deltas;
}"""


def busy(trace: dict[str, Any]) -> list[float]:
    """CPU milliseconds of the page's main thread between each mark and the next, under the trace that tells them.

    Deltas of animation frames are 16.7 ms at best, and say as much of the machine's other work as of ours.
    """
    events = trace["traceEvents"]
    marks = [event for event in events if event.get("name") == "jxs-frame" and event.get("ph") in "IRn"]
    thread = marks[0]["pid"], marks[0]["tid"]
    edges = np.array(sorted(event["ts"] for event in marks), float)
    work = np.zeros(len(edges) + 1)
    for event in events:
        mine = event.get("name", "").endswith("RunTask") and (event["pid"], event["tid"]) == thread
        if mine and event.get("ph") == "X":
            work[np.searchsorted(edges, event["ts"])] += event.get("tdur", event["dur"])
    return (work[1:-1] / 1000).tolist()


def smooth(browser: Any, page: Any, what: str, selector: str, action: str) -> None:
    page.evaluate(MOVE, [selector, action, 20])
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline", "blink.user_timing"])
    deltas = page.evaluate(MOVE, [selector, action, FRAMES])
    work = busy(json.loads(browser.stop_tracing()))
    worst, half = np.percentile(work, 95), np.percentile(work, 50)
    late = sum(delta > 1.5 * VSYNC for delta in deltas)
    told = f"{late} of {len(deltas)} frames late, p50 {half:.1f} ms"
    row(f"{what}: p95 of CPU a frame", f"{worst:.1f} ms", told, "<= 16 ms", worst <= 16)


def test_opening_each_view(lab, open_notebook) -> None:
    """Seen before, so that the kernel answers in 1 to 9 ms, and in a page that was loaded anew.

    The rest is the page's. Memory and Dtypes missed their goal when it was set (362 and 460 ms on two cores that nobody
    else used), and it stands: where the page spends that is not known yet.
    """
    setup = (
        "%load_ext jaxstage_ext\nfrom jax.sharding import PartitionSpec as P\nfrom tests.benchmarks.model import step"
    )
    notebook = open_notebook(lab, [setup, f"train_step, arguments = step({LAYERS})", STEP.format(TARGET)], height=1300)
    notebook.page.set_default_timeout(300_000)
    notebook.run_all()
    panel, page = notebook.panel(), notebook.page
    panel.stage("compile", "done").wait_for()
    notebook.wait_idle()
    there = [name for name in VIEWS if panel.tab(name).count()]
    first = {name: page.evaluate(OPEN, [f'[data-view="{name}"]', VIEWS[name]]) for name in there}
    panel.tab("cost").click()
    panel.root.locator(SECTION).wait_for()
    first["roofline"] = page.evaluate(OPEN, [SECTION, ROOFLINE])
    again: dict[str, list[float]] = {name: [] for name in first}
    for _ in range(3):
        notebook.save()
        page.reload()
        page.wait_for_function("() => !!window.jupyterapp")
        page.evaluate("() => window.jupyterapp.restored.then(() => true)")
        notebook.panel().tab("code").click()
        page.wait_for_timeout(1000)
        for name in there:
            again[name].append(page.evaluate(OPEN, [f'[data-view="{name}"]', VIEWS[name]]))
        notebook.panel().tab("cost").click()
        notebook.panel().root.locator(SECTION).wait_for()
        again["roofline"].append(page.evaluate(OPEN, [SECTION, ROOFLINE]))
    for name, times in again.items():
        took = min(times)
        whole = f"{first[name]:.0f} ms, computing as well"
        row(f"{LAYERS} layers, {TARGET}: {name} opened and painted", f"{took:.0f} ms", whole, "<= 300 ms", took <= 300)


def test_frames_of_fifty_thousand(browser, lab, open_notebook) -> None:
    made = (HERE / "fifty_thousand.py").read_text()
    setup = "%load_ext jaxstage_ext\nimport jax.numpy as jnp"
    notebook = open_notebook(
        lab, [setup, "import jaxstage_ext\nins = jaxstage_ext.inspect(jnp.tanh, jnp.ones(8))", made, "ins"], height=1300
    )
    notebook.run_all()
    panel, page = notebook.panel(), notebook.page
    notebook.wait_idle()
    panel.tab("cost").click()
    panel.root.locator('[data-section="icicle"]').click()
    canvas = panel.root.locator(".jxs-icicle canvas")
    canvas.wait_for()
    print(f"\n{canvas.get_attribute('aria-label')}", end="")
    for action in ("hover", "enter"):
        smooth(browser, page, f"icicle of 50,000: {action}", ".jxs-icicle canvas", action)
    panel.tab("memory").click()
    panel.root.locator(".jxs-mem-part tbody tr").first.wait_for()
    for action in ("hover", "zoom", "scroll"):
        smooth(browser, page, f"live ranges of 50,000: {action}", ".jxs-mem-canvas", action)
    notebook.screenshot("memory-fifty-thousand")
