"""Texts that look like markup or code, in what functions put in a live panel and a saved notebook, stay text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.cells import SETUP
from tests.browser.payloads import FAULTS, PAYLOADS
from tests.browser.test_payloads import watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

LIVE = """
import json
from pathlib import Path
%load_ext jaxstage_ext
payloads = json.loads(Path({file!r}).read_text())
"""
"""The payloads travel in a file, because a notebook's own text cannot hold all of them."""
EVERY_FIELD = """
def named(text):
    def function(x, tree):
        with jax.named_scope(text):
            y = jnp.tanh(x) * next(iter(tree.values()))
        return {text: y}
    function.__name__ = function.__qualname__ = text
    return function

trees = [{text[:5000]: x} for text in payloads]
functions = [named(text[:5000]) for text in payloads]
"""
CALLS = """
try:
    get_ipython().run_line_magic("compile", {calls!r})
except Exception as error:
    print("ended by", type(error).__name__)
"""
FAILING = """
def failing(text):
    def function(x):
        raise ValueError(text)
    return function
failures = [failing(text) for text in payloads]
"""


def test_in_what_a_live_panel_and_a_saved_notebook_show_they_stay_text(
    open_notebook: Opener, lab: Server, browser: Browser
) -> None:
    (lab.folder / "payloads.json").write_text(json.dumps(list(PAYLOADS.values())))
    count = len(PAYLOADS)
    calls = "; ".join(f"functions[{i}](x, trees[{i}])" for i in range(count))
    failures = "; ".join(f"failures[{i}](x)" for i in range(count))
    notebook = open_notebook(
        lab,
        [
            SETUP + LIVE.format(file="payloads.json"),
            EVERY_FIELD + FAILING,
            CALLS.format(calls=calls),
            CALLS.format(calls=failures),
        ],
        height=1800,
    )
    notebook.run_all()
    shown = 0
    for index in (0, 1):
        panel = notebook.panel(index)
        picker = panel.root.locator(".jxs-picker")
        assert picker.locator("option").count() == count
        for number in range(count):
            picker.select_option(index=number)
            if index == 0:
                ended = panel.stage("compile", "done").or_(panel.root.locator(".jxs-failure"))
                ended.first.wait_for()
                if panel.stage("compile", "done").count():
                    panel.show_panes("jaxpr", "stablehlo", "hlo")
                    panel.row("jaxpr", "tanh").hover()
                    shown += 1
            else:
                panel.root.locator(".jxs-failure").wait_for()
            assert notebook.page.evaluate(FAULTS) == []
    assert shown >= count - 2, "JAX refuses a name that is not UTF-8, and one with a NUL"
    notebook.save()
    saved = json.loads(notebook.path.read_text())
    for output in (output for cell in saved["cells"] for output in cell["outputs"] if "data" in output):
        trouble: list[str] = []
        page = watched(browser, trouble)
        html = "".join(output["data"]["text/html"])
        (file := lab.folder / "saved.html").write_text(f"<!doctype html><meta charset=utf-8>{html}", errors="replace")
        page.goto(file.as_uri())
        assert "s[0](x: f32[8,128]" in page.inner_text("body")
        assert page.evaluate(FAULTS) == []
        assert trouble == []
        page.close()


TIMELINE = """
import sys
sys.path.insert(0, {helpers!r})
import numpy as np
from recordings import Event, recording
from jaxstage_ext.panel.showing import shown_timeline
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.frames import Frames, SourceFile
from jaxstage_ext.report.recording import EventKind, EventLane, HostLine, LaneKind, Loss, Lost

texts = [text[:5000] for text in payloads]
lanes = [EventLane(text, text + str(i), LaneKind.COMPUTE, i) for i, text in enumerate(texts)]
host = [EventLane("host " + text, "h" + text, LaneKind.HOST) for text in texts]
events = [Event(lane.name, lane.group, 2 * i, 9, EventKind.KERNEL, (lane.group, lane.group), i, correlation=i + 1)
          for i, lane in enumerate(lanes)]
events += [Event(lane.name, lane.name, i, 1, EventKind.LAUNCH, device=-1, correlation=i + 1)
           for i, lane in enumerate(host)]
events += [Event(host[0].name, text, 100 * i, 90, EventKind.STEP, device=-1) for i, text in enumerate(texts)]
events += [Event(host[1].name, text, 10 * i, 5, EventKind.COMPILE, device=-1) for i, text in enumerate(texts)]
made = recording(events, lanes + host, [Lost(Loss.DROPPED, None, text) for text in texts], title=texts[0],
                 details=lambda event: {{text: text for text in texts}})
count, ops = len(texts), len(made.ops)
zeros, each = np.zeros(count, np.int32), np.arange(count, dtype=np.int32)
files = tuple(SourceFile(text, text) for text in texts)
frames = Frames(files, tuple(texts), each, each, each + 1, zeros + 1, each + 1, zeros, zeros - 1, each)
of_op = np.arange(ops, dtype=np.int32) % count
unknown, certain = np.full(ops, -1, np.int32), np.zeros(ops, bool)
places = OpPlaces(unknown, of_op, certain, of_op, of_op, frames, tuple(texts), tuple(texts))
shown_timeline.recorded(Timeline(made, places))
"""


def test_in_a_timeline_they_stay_text(open_notebook: Opener, lab: Server, browser: Browser) -> None:
    (lab.folder / "payloads.json").write_text(json.dumps(list(PAYLOADS.values())))
    helpers = str(Path(__file__).parents[1] / "helpers")
    cells = [SETUP + LIVE.format(file="payloads.json"), TIMELINE.format(helpers=helpers)]
    notebook = open_notebook(lab, cells, height=1400)
    notebook.run_all()
    panel = notebook.panel()
    head = panel.root.locator(".jxs-tl-head")
    head.wait_for()
    for table in ("lines", "ops", "kernels", "scopes", "kinds", "gaps", "compiles", "steps", "compare"):
        panel.root.locator(f'[data-table="{table}"]').click()
        panel.root.locator(".jxs-tl-tables tbody tr, .jxs-tl-tables .jxs-note").first.wait_for()
        assert notebook.page.evaluate(FAULTS) == []
    box = panel.root.locator(".jxs-tl-search-box")
    box.fill("script")
    panel.root.locator(".jxs-tl-search [role=status]").wait_for()
    for _ in range(4):
        box.press("Enter")
        panel.root.locator(".jxs-tl-event dl").first.wait_for()
        assert notebook.page.evaluate(FAULTS) == []
    panel.root.locator(".jxs-tl-event details summary").click()
    panel.root.locator(".jxs-tl-losses summary").click()
    assert notebook.page.evaluate(FAULTS) == []
    notebook.screenshot("timeline_payloads")
    notebook.save()
    (output,) = [
        output
        for cell in json.loads(notebook.path.read_text())["cells"]
        for output in cell["outputs"]
        if "data" in output and "text/html" in output["data"]
    ]
    trouble: list[str] = []
    page = watched(browser, trouble)
    html = "".join(output["data"]["text/html"])
    (file := lab.folder / "saved.html").write_text(f"<!doctype html><meta charset=utf-8>{html}", errors="replace")
    page.goto(file.as_uri())
    assert re.search(r"\d%", page.inner_text("body"))
    assert page.evaluate(FAULTS) == []
    assert trouble == []
    page.close()
