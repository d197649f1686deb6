"""The form of what heads every view of a program: plain JSON types only, as the front end and saved reports have it."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from jaxstage_ext.analysis.sharding.mesh_drawing import Sheet
from jaxstage_ext.program.comparing.comparison_form import ComparisonOfTarget
from jaxstage_ext.report.figure import Figure


class StageSummary(TypedDict):
    """One stage; `count` says what it made.

    `state` is "waiting", "running", "done", "failed" or "interrupted"; "given" where it was there before, "not given"
    where what was given had come of it, "not reached" where one before it failed.
    """

    name: str
    state: str
    seconds: float | None
    elapsed: float | None
    count: str | None
    note: str | None


class FigureSummary(TypedDict):
    """A figure of the program. `reason` says why it is unknown, `note` how it was counted."""

    label: str
    text: str
    known: bool
    reason: str | None
    note: str | None


def labelled(label: str, figure: Figure) -> FigureSummary:
    """A figure as it heads a view; "unknown" with the reason where it has no value."""
    known = figure.value is not None
    return {"label": label, "text": figure.shown(), "known": known, "reason": figure.reason, "note": figure.remark}


class CoverageSummary(TypedDict):
    """How many operations are linked to source lines; `library` to those of libraries, not the user's own."""

    direct: int
    library: int
    inferred: int
    total: int


class DocumentSummary(TypedDict):
    """One document; its size is None while stages run."""

    kind: str
    title: str
    lines: int | None
    bytes: int | None


class ErrorSummary(TypedDict):
    """The failure of a stage, and where in the source; `told` is what it means, where that is
    known; `log` is whether the log of a worker process may explain it.
    """

    stage: str
    type: str
    message: str
    told: str
    file: str | None
    label: str | None
    line: int | None
    interrupted: bool
    log: bool


class Summary(TypedDict):
    """What heads every view.

    `facts` are the figures of its cost and memory; `meshes` draw the shardings that JAX refused; `views` are the tabs
    that have something to show, `open` the one that opens first, "" for the code; `worker` is whether a worker process
    compiles for the target. `compare` is the table of all targets, with the number of this one's `row`; the targets
    after the first have the number alone. `finding` is the best finding in a sentence, or what was not looked for; the
    panel says it. `shardings` are saved with a report alone (`saved_shardings`). `urgent` is how many of the notes, the
    first, say that something is wrong.
    """

    version: int
    name: str
    signature: str
    target: str
    options: dict[str, Any]
    stages: list[StageSummary]
    facts: list[FigureSummary]
    coverage: CoverageSummary | None
    documents: list[DocumentSummary]
    error: ErrorSummary | None
    notes: list[str]
    meshes: list[Sheet]
    views: list[str]
    open: str
    worker: bool
    compare: ComparisonOfTarget | None
    finding: str
    shardings: NotRequired[dict[str, Any] | None]
    urgent: NotRequired[int]
