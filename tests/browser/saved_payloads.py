"""Saved outputs made of recorded replies, so that every tab opens, and put into an open notebook without a kernel."""

from __future__ import annotations

import base64
import copy
import gzip
import json
from pathlib import Path
from typing import Any

from tests.browser.notebook_page import NotebookPage

FIXTURES = Path(__file__).parents[2] / "labextension/tests/fixtures"
PAYLOAD = "application/vnd.jaxstage.v1+json"
KEYS = (
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "length",
    "<img id=pwn src=x onerror='window.pwned=1'>",
)
PROGRAMS = ("gradient", "resharded", "profiled")
SHOW = """([data]) => {
    const outputs = window.jupyterapp.shell.currentWidget.content.widgets[0].model.outputs;
    outputs.clear();
    outputs.add({ output_type: "display_data", metadata: {}, data });
}"""

WALK = """async () => {
    const panel = document.querySelector(".jp-OutputArea-output .jaxstage");
    const settled = async () => {
        for (let calm = 0, frames = 0; calm < 3 && frames < 30; frames++) {
            await new Promise(requestAnimationFrame);
            calm = panel.querySelector("[aria-busy='true'], [data-ready='false']") ? 0 : calm + 1;
        }
    };
    const point = element => ["mouseover", "mousemove", "pointermove"].forEach(kind =>
        element.dispatchEvent(new PointerEvent(kind, { bubbles: true, clientX: 300, clientY: 500 })));
    let opened = 0;
    const picker = () => panel.querySelector(".jxs-picker");
    for (let call = 0; call < (picker()?.options.length ?? 1); call++) {
        if (picker()) {
            picker().selectedIndex = call;
            picker().dispatchEvent(new Event("change", { bubbles: true }));
            await settled();
        }
        const tabs = () => panel.querySelectorAll("[role=tab]");  // none in a view of the kernel
        for (let at = 0; at < Math.max(1, tabs().length); at++) {
            tabs()[at]?.click();
            await settled();
            const view = panel.querySelector("[data-view]:not([role=tab])");
            [...(view?.querySelectorAll("*") ?? [])].slice(0, 300).forEach(point);
            await settled();
            opened += view ? 1 : 0;
        }
    }
    return opened;
}"""


def whole_report() -> list[Any]:
    """Three calls with the replies of every method: a gradient, a program on eight devices, a profile."""
    recorded = json.loads((FIXTURES / "replies.json").read_text())
    (fixture,) = json.loads((FIXTURES / "loss.json").read_text())
    reports = []
    for program in PROGRAMS:
        summary = recorded["states"][program]["calls"][0] | {"documents": fixture["summary"]["documents"]}
        replies = {
            named(entry["method"], entry["params"]): {"result": entry["result"], "buffers": entry["buffers"]}
            for entry in recorded["replies"]
            if entry["program"] == program and entry["method"] not in ("document", "columns", "frames")
        }
        reports.append(copy.deepcopy(fixture) | {"summary": summary, "replies": replies, "target": "local"})
    return reports


def named(method: str, params: dict[str, Any]) -> str:
    return f"{method} {json.dumps(dict(sorted(params.items())), separators=(',', ':'))}"


def with_keys(value: Any, keys: dict[str, Any]) -> Any:
    """A copy with these keys in every object."""
    if isinstance(value, dict):
        return {name: with_keys(part, keys) for name, part in value.items()} | keys
    return [with_keys(part, keys) for part in value] if isinstance(value, list) else value


def reports_of(notebook: Any) -> list[Any]:
    """The reports that the outputs of a saved notebook hold."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    saved = [output["data"][PAYLOAD] for output in outputs if PAYLOAD in output.get("data", {})]
    return [report for each in saved for report in json.loads(gzip.decompress(base64.b64decode(each["reports"])))]


def payload(reports: Any, raw: bytes | None = None) -> dict[str, Any]:
    """What a display saves of reports, or of the bytes that are given for their JSON."""
    packed = gzip.compress(json.dumps(reports).encode() if raw is None else raw, 1)
    return {"version": 1, "model": None, "reports": base64.b64encode(packed).decode(), "left_out": []}


def show(notebook: NotebookPage, data: dict[str, Any], text: str = "the plain text") -> None:
    """Make this the output of the first cell."""
    notebook.page.evaluate(SHOW, [{PAYLOAD: data, "text/plain": text}])


def drawn(notebook: NotebookPage) -> bool:
    """Wait for the panel or for the line in its place; True for the panel."""
    output = notebook.page.locator(".jp-OutputArea-output")
    output.locator(".jaxstage-note").first.wait_for()
    return bool(output.locator(".jaxstage").count())


def walk(notebook: NotebookPage) -> int:
    """Open every tab of every call, and point at all that is drawn; how many views were opened."""
    return int(notebook.page.evaluate(WALK))
