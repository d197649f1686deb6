"""What the panel asks about machine code: the list of kernels, what each takes, the text of one stage of one."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.params import Answer, BadRequest, Inspections, Method, Params, inspection, quoted, text
from jaxstage_ext.program.kernels import TITLES
from jaxstage_ext.views.kernel_table import value

MOST_INSTRUCTIONS = 200
"""Names of instructions that are sent of one kernel."""
_NUMBERS = ("registers", "spills", "shared", "stack", "code_bytes", "instructions")


def title(kind: str) -> str:
    """What a kernel's document is called: "PTX of fusion_3"."""
    stage, _, name = kind.partition(":")
    return f"{TITLES.get(stage, stage)} of {name}" if name else kind


def _listing(inspections: Inspections, params: Params, progress: jobs.Progress) -> Answer:
    kernels = inspection(inspections, params).look_at_kernels(progress.heard)
    return {
        "platform": kernels.platform,
        "stages": [{"name": name, "title": TITLES[name]} for name in kernels.stages],
        "kernels": [_row(row) for row in kernels.rows],
        "notes": list(kernels.notes),
    }, []


def _row(row: Any) -> dict[str, Any]:
    return {
        "key": row.key,
        "own": bool(row.name),
        "instructions": list(row.instructions[:MOST_INSTRUCTIONS]),
        "kind": row.kind,
        "rows": [list(stretch) for stretch in row.rows],
        "lacks": {stage: reason for stage, reason in row.stages.items() if reason},
        "grid": list(row.grid),
        "threads": list(row.threads),
    }


def _figures(inspections: Inspections, params: Params, progress: jobs.Progress) -> Answer:
    kernels = inspection(inspections, params).look_at_kernels(progress.heard)
    kernels.measure(progress.heard)
    found = {}
    for row in kernels.rows:
        figures = row.figures
        found[row.key] = {name: value(figures, name) for name in _NUMBERS} | {"reason": figures.reason}
    return {"figures": found}, []


def _text(inspections: Inspections, params: Params, progress: jobs.Progress) -> Answer:
    """Have one text read; it is then a document as any other."""
    kind = text(params, "doc")
    stage, _, name = kind.partition(":")
    kernels = inspection(inspections, params).look_at_kernels(progress.heard)
    row = next((row for row in kernels.rows if row.key == name), None)
    if row is None:
        raise BadRequest(f"there is no kernel {quoted(name)}")
    document = row.document(stage, progress.heard)
    return {"kind": kind, "title": title(kind), "lines": len(document), "bytes": len(document.text)}, []


METHODS: dict[str, Method] = {
    "kernels": jobs.slow(_listing),
    "figures": jobs.slow(_figures),
    "kernel": jobs.slow(_text),
}
