"""The requests that the passes view makes: the list, the difference that one made, an instruction's history."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.ir.passes import hlo_graph, pass_history, pass_table
from jaxstage_ext.ir.passes.hlo_line import INSTRUCTION
from jaxstage_ext.ir.passes.pass_document import PREFIX
from jaxstage_ext.ir.passes.pipeline import Pipeline
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Params, Programs
from jaxstage_ext.panel.requests.document_requests import document
from jaxstage_ext.panel.wire_form import packed
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.passes import passes

_COLUMNS = ("left", "right", "state_before", "state_after", "match_before", "match_after")
_OTHERWISE = (
    "This compile did not come out as the one that is shown: {} of the last module's instructions have names that "
    "the other has not. XLA for GPUs numbers and orders what its threads make as they end."
)


def _get_passes(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    program = given.program(programs, params)
    pipeline = passes(program, progress.heard)
    progress("comparing with the module that is shown")
    rows = [{**record, "version": this.version} for record, this in zip(_records(pipeline), pipeline, strict=True)]
    return {
        "title": pass_table.title(pipeline),
        "complete": pipeline.complete,
        "notes": [*pipeline.notes, *_otherwise(program, pipeline)],
        "passes": rows,
    }, []


def _records(pipeline: Pipeline) -> list[dict[str, Any]]:
    return list(pipeline.table.rows())


def _otherwise(program: Program, pipeline: Pipeline) -> list[str]:
    """That the compile of this look chose otherwise than the one that is shown, where it did."""
    if "hlo" not in program.documents:
        return []
    ours, theirs = _names(pipeline.versions.texts(-1)), _names(program.documents["hlo"].lines)
    differing = len(ours - theirs)
    return [_OTHERWISE.format(f"{differing:,}")] if differing else []


def _names(lines: list[str]) -> set[str]:
    shapes = map(hlo_graph.shape_of, lines)
    return {shape.name for shape in shapes if shape.kind == INSTRUCTION and shape.opcode != "get-tuple-element"}


def _get_diff(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    pipeline = _known(programs, params)
    this = pipeline[given.integer(params, "pass", 0, len(pipeline) - 1)]
    diff = pipeline.diff(this.index)
    before, after = this.version - this.changed, this.version
    described = {"before": _described(before, diff.before), "after": _described(after, diff.after)}
    result, buffers = packed({name: getattr(diff, name) for name in _COLUMNS})
    return {**described, "counts": diff.counts, **result}, buffers


def _described(version: int, lines: tuple[str, ...]) -> dict[str, Any]:
    size = sum(map(len, lines)) + len(lines) - 1
    return {"kind": f"{PREFIX}{version}", "title": f"module {version}", "lines": len(lines), "bytes": size}


def _get_history(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    pipeline = passes(given.program(programs, params), progress.heard)
    version, row = _place(programs, params, pipeline)
    followed = pass_history.follow(pipeline, version, row, progress)
    steps = [
        {"pass": s.index, "what": s.what, "before": s.before, "after": s.after, "line": s.lines[0][:500]}
        for s in followed.steps
    ]
    return {"line": followed.line[:2000], "first": followed.first, "steps": steps}, []


def _place(programs: Programs, params: Params, pipeline: Pipeline) -> tuple[int, int]:
    """(version, row) of the requested row; an instruction of the optimised module is looked up by name."""
    doc = document(programs, params)
    row = given.integer(params, "row", 0, len(doc) - 1)
    if doc.kind.startswith(PREFIX):
        return int(doc.kind.removeprefix(PREFIX)), row
    if doc.kind != "hlo":
        raise BadRequest(f"passes work on HLO; {given.quoted(doc.kind)} is not HLO")
    name, last = hlo_graph.shape_of(doc.lines[row]).name, len(pipeline.versions) - 1
    row_in_last = pass_history.row_of(pipeline, last, name) if name else -1
    if row_in_last < 0:
        raise BadRequest(
            f"the last module of the passes has no instruction {name or given.quoted(doc.lines[row][:40])}"
        )
    return last, row_in_last


def _known(programs: Programs, params: Params) -> Pipeline:
    pipeline = passes.known(given.program(programs, params))
    if pipeline is None:
        raise BadRequest("the passes are not known yet; open the list of passes first")
    return pipeline


METHODS: dict[str, given.Method] = {
    "passes": jobs.slow(_get_passes),
    "pass_diff": jobs.slow(_get_diff),
    "pass_history": jobs.slow(_get_history),
}
