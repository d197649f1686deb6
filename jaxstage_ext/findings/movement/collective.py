"""Collectives that a change does without or hides, and those that take long and that nothing hides."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jaxstage_ext.analysis.collectives.collective_causes import CauseKind
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import added_products, resharded
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import equation_place, staged_changes, stakes
from jaxstage_ext.findings.detector import Detector, Need
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.movement import alike_collectives, resharding_changes, tried_changes
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.findings.movement.full_rematerialisation import has_collectives
from jaxstage_ext.findings.movement.tried_changes import Candidate
from jaxstage_ext.program.predicting.time_estimate import said_of_exposed
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import collectives as exchanged
from jaxstage_ext.report.progress import Progress

LARGE = 0.3
"""Of the lower bound, what exposed collectives take to be told without a change that pays."""
_MOST_TRIALS = 4
_LEAST_SECONDS = 1e-6
"""Below it, starting a collective takes longer than its bytes."""
_TO_HIDE = 0.05
_ENOUGH = 0.5
"""Of what the collectives take, what a change has to save to look for no better one."""
_MOST_ADDED = 2
_PIECE, _PIECES = 1 << 23, 4
"""Bytes that take far longer than starting a collective, and how many of them one is split in."""
_GROUP = ("all-reduce", "all-gather", "reduce-scatter")


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """Those that a change was compiled for that pays; then all others together where they are exposed and large."""
    found = exchanged.collectives(program, progress)
    of, budget = tried_changes.measure(program), tried_changes.TrialBudget(_MOST_TRIALS)
    whole = stakes.figure(program, of) or 0.0
    replicating = {warning.before for warning in found.warnings}
    findings, left = list[Finding](), list[list[CollectiveRow]]()
    for rows in alike_collectives.groups(found):
        taken = alike_collectives.amount(rows, of)
        if any(not replicating.isdisjoint(cause.before) for row in rows for cause in row.causes):
            continue
        made = None
        if taken is not None and taken >= tried_changes.LEAST_GAIN * whole > 0:
            candidates = [
                *resharding_changes.of(program, rows, alike_collectives.line(found, rows)),
                *_together(program, rows),
                *_hiding(program, rows),
            ]
            if any(one.change == known.change for one in candidates for known in findings):
                continue
            made = _changed(program, found, rows, candidates, budget)
        findings += [made] if made else []
        left += [] if made else [rows]
    made_by_ad = _of_differentiation(program, found, left, of)
    told = {one.rows["hlo"] for one in made_by_ad}
    left = [rows for rows in left if alike_collectives.document_rows(found, rows) not in told]
    return [*findings, *made_by_ad, *(_large(program, found, left, whole) if of is StakeMeasure.TIME else [])]


def find_at_once(program: Program) -> list[Finding]:
    """What is exposed and large, by the optimised module alone; with the causes where they are known."""
    if tried_changes.measure(program) is not StakeMeasure.TIME:
        return []
    found = exchanged.exchanges(program)
    whole = stakes.figure(program, StakeMeasure.TIME) or 0.0
    return _large(program, found, alike_collectives.groups(found), whole)


def _changed(
    program: Program,
    found: Collectives,
    rows: Sequence[CollectiveRow],
    candidates: Sequence[Candidate],
    budget: tried_changes.TrialBudget,
) -> Finding | None:
    def finding(candidate: Candidate) -> Finding:
        made = _of(found, rows, wording.collective(rows[0], len(rows), alike_collectives.sent(rows)))
        return replace(made, names=candidate.names, caveat=candidate.caveat, line=candidate.line or made.line)

    enough = _ENOUGH * (alike_collectives.amount(rows, tried_changes.measure(program)) or 0.0)
    return tried_changes.best(program, budget, candidates, finding, enough)


def _of(found: Collectives, rows: Sequence[CollectiveRow], text: str) -> Finding:
    return Finding(
        FindingKind.COLLECTIVE,
        text,
        Stake(StakeMeasure.SENT),
        line=alike_collectives.line(found, rows),
        rows={"hlo": alike_collectives.document_rows(found, rows)},
        certainty=Certainty.ESTIMATED,
        tab="collectives",
    )


def _together(program: Program, rows: Sequence[CollectiveRow]) -> Iterator[Candidate]:
    """Products whose partial sums are summed apart and then added."""
    if not any(cause.kind is CauseKind.PARTIAL_SUMS for row in rows for cause in row.causes):
        return
    additions = list(added_products.found(program.jax_traced.jaxpr.jaxpr))[:_MOST_ADDED]
    for eqn, place in zip(additions, equation_place.places(program, additions), strict=True):
        stage = staged_changes.of_jaxpr(resharded.at_equation(eqn, added_products.added_first))
        yield Candidate(CodeChange(wording.add_first(place.label), stage=stage), line=place.label)


def _hiding(program: Program, rows: Sequence[CollectiveRow]) -> Iterator[Candidate]:
    """On GPUs, one that XLA combined of several, in pieces that other work can hide."""
    row, of = rows[0], StakeMeasure.TIME
    exposed, whole = alike_collectives.exposed(rows), stakes.figure(program, of)
    is_long = exposed is not None and whole is not None and exposed >= _TO_HIDE * whole
    if program.platform != "gpu" or not is_long or len(row.inputs) < 2 or row.op.kind not in _GROUP:
        return
    size = row.payload // _PIECES
    if size >= _PIECE:
        size //= (row.groups.size or 1) if row.op.kind == "reduce-scatter" else 1  # XLA counts what comes out
        flag = f"xla_gpu_{row.op.kind.replace('-', '_')}_combine_threshold_bytes"
        stage = functools.partial(_with_options, {flag: size})
        yield Candidate(CodeChange(wording.combine_less(flag, size), stage=stage), (flag,), caveat=wording.BEYOND_BOUND)


def _with_options(options: dict[str, int], staged: Staged) -> Staged:
    call = replace(staged.call, compiler_options={**staged.call.compiler_options, **options})
    return rematerialization.lowered_anew(replace(staged, call=call), unwrap(staged.value(TRACE)))


def _large(
    program: Program, found: Collectives, groups: Sequence[Sequence[CollectiveRow]], whole: float
) -> list[Finding]:
    """One finding for what is exposed and that no change was found for."""
    rows = [row for rows in groups for row in rows if row.exposed]
    seconds = sum(row.exposed or 0.0 for row in rows)
    if not rows or seconds < max(LARGE * whole, _LEAST_SECONDS):
        return []
    first = max(rows, key=lambda row: row.exposed or 0.0)
    text = wording.exposed_collectives(first, len(rows), seconds, seconds / whole)
    text = " ".join(filter(None, [text, said_of_exposed(program)]))
    caveat = wording.LARGER_BATCH if _is_of_gradient(program, first) else ""
    return [replace(_of(found, [first], text), stake=Stake(StakeMeasure.TIME), caveat=caveat)]


def _is_of_gradient(program: Program, row: CollectiveRow) -> bool:
    scope = int(program.module.scope[row.op.row])
    sums = row.op.kind in ("all-reduce", "reduce-scatter")
    return sums and scope >= 0 and "transpose(" in program.module.scopes[scope]


def _of_differentiation(
    program: Program, found: Collectives, groups: Sequence[Sequence[CollectiveRow]], of: StakeMeasure
) -> list[Finding]:
    """Of a program that calls no collective, those that a derivative of its shard_map calls."""
    kinds = {cause.kind for row in found.rows for cause in row.causes}
    if CauseKind.WRITTEN in kinds or CauseKind.BACKWARD not in kinds:
        return []
    made = []
    for rows in groups:
        name = next((cause.values[0] for cause in rows[0].causes if cause.kind is CauseKind.BACKWARD), "")
        if name:
            made.append(replace(_of(found, rows, wording.of_differentiation(rows[0], name)), stake=Stake(of)))
    return made


DETECTOR = Detector(FindingKind.COLLECTIVE, find, has_collectives, (Need.CAUSES, Need.TRIAL), find_at_once)
