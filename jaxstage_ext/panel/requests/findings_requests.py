"""The requests of the findings tab: what there is to change in a program, and what a change really saves."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.findings import finding_wording as wording
from jaxstage_ext.findings.finding import CodeChange
from jaxstage_ext.findings.found import Findings, FoundIn, found
from jaxstage_ext.findings.trial import Trial
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, ErrorKind, Params, Programs
from jaxstage_ext.panel.wire_form import joined, packed_table
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.terminal import clean

MOST_FINDINGS, MOST_ROWS = 100, 200
"""Findings that are sent, and rows of each document that one leads to."""
LONGEST = 4000
"""Characters of a change."""
_TITLES = {name: name for name in ("figure", "as written", "changed", "difference")}


def _get_findings(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The findings in order: what takes milliseconds, or with `all` what takes a compile too."""
    everything = bool(params.get("all"))
    made = found(given.program(programs, params), everything, progress.heard if everything else None)
    shown = made[:MOST_FINDINGS]
    tables, buffers = joined({str(at): _table(one.trial) for at, one in enumerate(shown) if one.trial is not None})
    return {
        "findings": [_form(one) | {"trial": _trial(one, tables.get(str(at)))} for at, one in enumerate(shown)],
        "looked": [kind.value for kind in made.looked],
        "waiting": [detector.kind.value for detector in made.waiting],
        "seconds": made.seconds,
        "failures": [_public(failure) for failure in made.failures],
    }, buffers


def _form(one: FoundIn) -> dict[str, Any]:
    return {
        "key": key_of(one),
        "kind": one.kind.value,
        "text": _public(one.text),
        "stake": wording.gain(one),
        "share": one.stake.share,
        "line": one.line,
        "rows": {doc: list(rows[:MOST_ROWS]) for doc, rows in one.rows.items()},
        "change": _change(one.change),
        "certainty": one.certainty.value,
        "caveat": _public(one.caveat),
        "more": one.kind.read_more,
        "tab": one.tab,
        "try": one.can_be_tried,
    }


def _public(text: str) -> str:
    return public_folders(clean(text))


def key_of(one: FoundIn) -> str:
    """What names a finding in requests."""
    return "\n".join((one.kind.name, one.line, *one.names))


def _change(change: CodeChange | None) -> dict[str, Any] | None:
    return None if change is None else {"code": public_folders(change.code[:LONGEST]), "diff": change.is_diff}


def _trial(one: FoundIn, table: dict[str, Any] | None) -> dict[str, Any] | None:
    made = one.trial
    if made is None or table is None:
        return None
    return {"outcome": made.outcome.value, "text": made.text, "table": table}


def _table(made: Trial) -> Answer:
    return packed_table(made.table, _TITLES)


def _try(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """Compile the change of one finding; `findings` then has what it gave."""
    key = given.text(params, "finding")
    made: Findings = found(given.program(programs, params))
    one = next((one for one in made if key_of(one) == key), None)
    if one is None:
        raise BadRequest("this is no longer found in the program", ErrorKind.ABSENT)
    progress("compiling the change")
    trial = one.try_(progress.heard)
    return {"outcome": trial.outcome.value, "text": trial.text}, []


METHODS: dict[str, given.Method] = {"findings": jobs.slow(_get_findings), "try": jobs.slow(_try)}
