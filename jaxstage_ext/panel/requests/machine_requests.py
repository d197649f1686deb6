"""What the panel asks about machine code: the list of kernels, what each takes, the text of one stage of one."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs, program, quoted, text
from jaxstage_ext.program.head.document_titles import KERNEL_TITLES, title_of
from jaxstage_ext.program.machine_code.kernel_listing import value
from jaxstage_ext.program.machine_code.kernel_types import Kernel
from jaxstage_ext.program.machine_code.kernels import kernels

MOST_INSTRUCTIONS = 200
"""Names of instructions that are sent of one kernel."""
_NUMBERS = ("registers", "spills", "shared", "stack", "code_bytes", "instructions")


def _listing(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    listed = kernels(program(programs, params), progress.heard)
    return {
        "platform": listed.platform,
        "stages": [{"name": name, "title": KERNEL_TITLES[name]} for name in listed.stages],
        "kernels": [_row(row) for row in listed.rows],
        "notes": list(listed.notes),
    }, []


def _row(row: Kernel) -> dict[str, Any]:
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


def _figures(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    listed = kernels(program(programs, params), progress.heard)
    listed.measure(progress.heard)
    by_kernel = {}
    for row in listed.rows:
        figures = row.figures
        by_kernel[row.key] = {**{name: value(figures, name) for name in _NUMBERS}, "reason": figures.reason}
    return {"figures": by_kernel}, []


def _text(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Have one text read; it is then a document as any other."""
    kind = text(params, "doc")
    stage, _, name = kind.partition(":")
    listed = kernels(program(programs, params), progress.heard)
    row = next((row for row in listed.rows if row.key == name), None)
    if row is None:
        raise BadRequest(f"there is no kernel {quoted(name)}")
    document = row.document(stage, progress.heard)
    return {"kind": kind, "title": title_of(kind), "lines": len(document), "bytes": len(document.text)}, []


METHODS: dict[str, Method] = {
    "kernels": jobs.slow(_listing),
    "figures": jobs.slow(_figures),
    "kernel": jobs.slow(_text),
}
