"""A timeline of a million events: what a view takes in the kernel, on the wire and in the page."""

from __future__ import annotations

import runpy
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.benchmarks.table import row

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

pytestmark = pytest.mark.benchmark

CELL = Path(__file__).parent / "million_events.py"

WATCH = """() => {
    const draw = CanvasRenderingContext2D.prototype.putImageData;
    const unpack = window.DecompressionStream;
    window.jxsDrawn = [];
    window.jxsUnpacked = [];
    CanvasRenderingContext2D.prototype.putImageData = function (...all) {
        draw.apply(this, all);
        window.jxsDrawn.push(performance.now());
    };
    window.DecompressionStream = class extends unpack {
        constructor(format) { super(format); window.jxsUnpacked.push(performance.now()); }
    };
    window.jxsWork = 0;
    for (const name of ['requestAnimationFrame', 'setTimeout']) {
        const own = window[name].bind(window);
        window[name] = (callback, ...more) => own((...given) => {
            const started = performance.now();
            callback(...given);
            window.jxsWork += performance.now() - started;
        }, ...more);
        if (name === 'requestAnimationFrame') window.jxsFrame = () => new Promise(done => own(done));
    }
}"""

FRAMES = """async ([what, count]) => {
    const ground = document.querySelector('.jxs-tl-ground');
    const scroll = document.querySelector('.jxs-tl-scroll');
    const box = ground.getBoundingClientRect();
    const work = [];
    const before = window.jxsDrawn.length;
    for (let i = 0; i < count; i++) {
        window.jxsWork = 0;
        const started = performance.now();
        const at = {clientX: box.left + box.width * (0.2 + 0.6 * ((i * 37) % 100) / 100), clientY: box.top + 50};
        const turn = {bubbles: true, cancelable: true, ...at};
        const way = (i % 60) < 30 ? -1 : 1;
        if (what === 'zoom') ground.dispatchEvent(new WheelEvent('wheel', {...turn, ctrlKey: true, deltaY: 120 * way}));
        if (what === 'pan') ground.dispatchEvent(new WheelEvent('wheel', {...turn, deltaX: 60 * way}));
        if (what === 'scroll') scroll.scrollTop += 45;
        await null;
        await null;
        const sync = performance.now() - started;
        await window.jxsFrame();
        await window.jxsFrame();
        work.push(sync + window.jxsWork);
    }
    work.sort((a, b) => a - b);
    const at = share => work[Math.min(work.length - 1, Math.floor(share * work.length))];
    return [at(0.5), at(0.95), at(1), (window.jxsDrawn.length - before) / count];
}"""

FIRST_PAINT = """() => {
    const paint = window.jxsDrawn[0];
    const before = window.jxsUnpacked.filter(time => time <= paint);
    return paint - before[Math.max(0, before.length - 8)];
}"""
"""From the first of the picture's eight columns to the first pixels."""


def test_a_million_events_in_the_kernel() -> None:
    from jaxstage_ext.panel import jobs
    from jaxstage_ext.panel.requests import timeline_requests

    program = runpy.run_path(str(CELL))["shown"].program
    programs: Any = [program]
    started = time.perf_counter()
    _, buffers = timeline_requests._overview(programs, {"call": 0}, jobs.JobProgress())
    first = time.perf_counter() - started
    size = sum(map(len, buffers)) / 1e3
    events = len(program.timeline.columns)
    row(f"{events:,} events: lanes and a coarse picture", f"{first:.2f} s", f"{size:.0f} kB", "<= 1 MB", size <= 1000)
    took, sizes = [], []
    for level, tile in [(0, 0), (3, 2), (8, 77), (14, 9000)]:
        for begin in (0, 60, 120):
            lanes = " ".join(map(str, range(begin, begin + 12)))
            started = time.perf_counter()
            _, buffers = timeline_requests._tile(programs, {"call": 0, "level": level, "tile": tile, "lanes": lanes})
            took.append(time.perf_counter() - started)
            sizes.append(sum(map(len, buffers)) / 1e3)
    worst = max(took) * 1e3
    row(
        "the same: a tile of 48 rows, the slowest",
        f"{worst:.0f} ms",
        f"median {statistics.median(took) * 1e3:.0f} ms, up to {max(sizes):.0f} kB",
        "<= 300 ms, 600 kB",
        worst <= 300 and max(sizes) <= 600,
    )


def test_a_million_events_in_the_page(lab: Server, open_notebook: Opener) -> None:
    notebook = open_notebook(lab, [CELL.read_text() + "\nshown"])
    notebook.page.add_init_script(f"({WATCH})()")
    notebook.open()
    notebook.run_all()
    panel, page = notebook.panel(), notebook.page
    panel.tab("timeline").click()
    page.wait_for_selector('.jxs-tl-scroll[data-ready="true"]')
    page.wait_for_timeout(1500)
    first = page.evaluate(FIRST_PAINT)
    row("a million events: first paint after the data are there", f"{first:.0f} ms", "", "<= 400 ms", 0 <= first <= 400)
    for what, count in (("zoom", 180), ("pan", 180), ("scroll", 120)):
        median, most, worst, drawn = page.evaluate(FRAMES, [what, count])
        assert drawn > 0.9, f"of the frames {drawn:.0%} were drawn"
        row(
            f"the same, 800 rows: work of a frame, {what}",
            f"p95 {most:.1f} ms",
            f"median {median:.1f} ms, longest {worst:.1f} ms",
            "p95 < 8 ms",
            most < 8,
        )
