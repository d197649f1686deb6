"""The few words and numbers that head every view of a program."""

from __future__ import annotations

from typing import Any, cast

from jaxstage_ext.analysis.sharding import mesh_drawing
from jaxstage_ext.core.options import flag_values, option_table
from jaxstage_ext.core.stage import stage_list, stages
from jaxstage_ext.program import tabs
from jaxstage_ext.program.comparing import comparison
from jaxstage_ext.program.comparing.comparison_form import ComparisonOfTarget
from jaxstage_ext.program.device import target_title
from jaxstage_ext.program.head import stage_wording
from jaxstage_ext.program.head.call_signature import signature
from jaxstage_ext.program.head.document_titles import title_of
from jaxstage_ext.program.head.executable_figures import executable_figures
from jaxstage_ext.program.head.notes import notes, options_of
from jaxstage_ext.program.head.persistent_figure import persistent_figures
from jaxstage_ext.program.head.summary_form import (
    CoverageSummary,
    DocumentSummary,
    ErrorSummary,
    FigureSummary,
    StageSummary,
    Summary,
)
from jaxstage_ext.program.mistakes.explained_error import error_explanation
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.public_paths import public_json
from jaxstage_ext.report.text.units import plural
from jaxstage_ext.report.view_parts import Parts

_MOST_DRAWN = 4
"""Values of a refused call that are drawn."""


def summary(program: Program) -> Summary:
    """What heads every view. Cheap while stages still run; of a saved program, what was saved.

    It is saved with the notebook, so that its paths are those that others may see.
    """
    if program.saved_summary is not None:
        return program.saved_summary
    return cast(Summary, public_json(_summary(program)))


def _summary(program: Program) -> Summary:
    running, several, name, parts = program.is_running, len(program.targets) > 1, program.name, Parts()
    made: Summary = {
        "version": 1,
        "name": f"{name} · {program.label}" if several else name,
        "signature": parts.get("The arguments", lambda: signature(program), name),
        "target": parts.get("The target", lambda: target_title.target_title(program), str(program.target)),
        "options": parts.get("The options", lambda: flag_values.shown(options_of(program)), {}),
        "stages": [_stage(program, stage, running, parts) for stage in program.staged.stages],
        "facts": parts.get("Cost and memory", lambda: _facts(program), []),
        "coverage": None if running else parts.get("What is linked", lambda: _coverage(program), None),
        "documents": [_document(program, kind, running, parts) for kind in program.documents],
        "error": parts.get("The error", lambda: _error(program), None),
        "notes": [] if running else parts.get("The notes", lambda: notes(program), []),
        "meshes": [] if running else parts.get("What was refused", lambda: _refused(program), []),
        "views": tabs.tabs(program),
        "open": parts.get("The first tab", lambda: tabs.first(program), ""),
        "worker": not program.target.is_local,
        "compare": parts.get("The comparison", lambda: _compare(program), None),
        "finding": "",
    }
    made["notes"] += [] if running else dict.fromkeys(parts.failures)
    return made


def _facts(program: Program) -> list[FigureSummary]:
    if (own := program.own_figures()) is not None:
        return list(own)
    figures = executable_figures(program) if program.executable is not None else []
    return [*figures, *persistent_figures(program)]


def flag_table(program: Program) -> dict[str, Any]:
    """All of XLA's flags, and what each is set to for this call: plain JSON types only."""
    return option_table.of(options_of(program))


def _coverage(program: Program) -> CoverageSummary | None:
    coverage = program.coverage
    if coverage is None:
        return None
    direct, library, inferred = coverage.direct, coverage.library, coverage.inferred
    return {"direct": direct, "library": library, "inferred": inferred, "total": coverage.total}


def _compare(program: Program) -> ComparisonOfTarget | None:
    """The targets side by side, for the first of them; the others say which row is theirs. None for one target."""
    targets = list(program.targets.values())
    if len(targets) < 2:
        return None
    number = next((i for i, other in enumerate(targets) if other is program), 0)
    if number:
        return {"row": number}
    before = next((i for i, other in enumerate(targets) if other.is_earlier), 0)
    return {"row": number, "before": before, **comparison.comparison(program).to_dict()}


def _refused(program: Program) -> list[mesh_drawing.Sheet]:
    """How the values that JAX refused were to lie, drawn."""
    if (refused := tabs.refused(program)) is None:
        return []
    known = [value for value in refused.values if value.map.fits]
    wrong = [value for value in known if value.map.is_uneven] or known
    return [mesh_drawing.sheet(value, refused.places) for value in wrong[:_MOST_DRAWN]]


def _stage(program: Program, stage: stages.Stage, running: bool, parts: Parts) -> StageSummary:
    note = stage_wording.note(stage)
    if stage.state == stages.DONE and stage.value is None:
        note = f"{program.name} gives no {stage.name} of its own"
    return {
        "name": stage.name,
        "state": program.staged.shown_state(stage),
        "seconds": stage.seconds,
        "elapsed": stage.elapsed,
        "count": parts.get(f"What {stage.name} made", lambda: _count(program, stage, running), None),
        "note": note,
    }


def _count(program: Program, stage: stages.Stage, running: bool) -> str | None:
    """What a stage made: "583 instrs, 60 fusions"."""
    definition = stage_list.definition(stage.name)
    if stage.state != stages.DONE or stage.value is None or (running and not definition.count_is_cheap):
        return None
    return ", ".join(plural(number, noun) for noun, number in definition.count(program).items()) or None


def _document(program: Program, kind: str, running: bool, parts: Parts) -> DocumentSummary:
    title = title_of(kind, program.is_optimised)
    document = None if running else parts.get(title, lambda: program.documents[kind], None)
    return {
        "kind": kind,
        "title": title,
        "lines": len(document) if document is not None else None,
        "bytes": len(document.text) if document is not None else None,
    }


def _error(program: Program) -> ErrorSummary | None:
    error = program.error
    if error is None:
        return None
    span = error.span
    source = program.frame_table.source(span.file) if span else None
    return {
        "stage": error.stage,
        "type": error.type,
        "message": error.message,
        "told": error_explanation(program),
        "file": source.public_name if source else None,
        "label": source.label if source else None,
        "line": span.line if span else None,
        "interrupted": error.interrupted,
        "log": not program.target.is_local and stage_list.makes_executable(error.stage),
    }
