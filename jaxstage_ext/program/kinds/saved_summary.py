"""Summaries and comparisons out of a saved report, checked: what views may take for granted, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.core.stage.staged import DONE, FAILED, GIVEN, INTERRUPTED, NOT_GIVEN, NOT_REACHED, RUNNING, WAITING
from jaxstage_ext.program.comparing.comparison_form import ComparisonForm
from jaxstage_ext.program.device.out_of_memory import RUN
from jaxstage_ext.program.head.summary_form import Summary
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.saved.json_form import BadForm, checked, quoted

_STATES = (WAITING, RUNNING, DONE, FAILED, INTERRUPTED, GIVEN, NOT_GIVEN, NOT_REACHED)
_LACKING: Mapping[str, Any] = {"meshes": [], "open": "", "worker": False, "compare": None, "options": {}, "finding": ""}
_LACKING_OF: Mapping[str, Mapping[str, Any]] = {"coverage": {"library": 0}, "error": {"told": "", "log": False}}
"""What summaries lack that earlier versions of this package saved."""


def summary_in(data: Mapping[str, Any], documents: Mapping[str, Document], targets: int, where: str) -> Summary:
    """The summary of a target with these documents. Raises BadForm for anything else."""
    summary = cast(Summary, checked(_completed(data), Summary, where))
    _check_stages(summary, where)
    _check_documents(summary, documents, where)
    _check_figures(summary, where)
    if (compare := summary["compare"]) is not None:
        for name, row in (("row", compare["row"]), ("before", compare.get("before", 0))):
            if not 0 <= row < targets:
                raise BadForm(f"{where}.compare.{name} is {row}, and there are {targets} targets")
        if table := {name: value for name, value in compare.items() if name not in ("row", "before")}:
            comparison_in(table, f"{where}.compare")
    return summary


def comparison_in(data: Mapping[str, Any], where: str) -> ComparisonForm:
    """The table of all targets. Raises BadForm for anything else."""
    table = cast(ComparisonForm, checked(data, ComparisonForm, where))
    _check_cells(table, where)
    return table


def _completed(data: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: added | data[name] for name, added in _LACKING_OF.items() if isinstance(data.get(name), dict)}
    if isinstance(facts := data.get("facts"), list):
        parts["facts"] = [_fact(fact) if isinstance(fact, dict) else fact for fact in facts]
    return {**_LACKING, **data, **parts}


def _fact(fact: dict[str, Any]) -> dict[str, Any]:
    return {"known": fact.get("text") != "unknown", **fact}


def _check_stages(summary: Summary, where: str) -> None:
    names = [stage["name"] for stage in summary["stages"]]
    known = [definition.name for definition in stage_list.STAGES]
    if names != known[: len(names)]:
        raise BadForm(f"{where}.stages are {quoted(', '.join(names))}, not {', '.join(known)} as far as it got")
    _check_known([stage["state"] for stage in summary["stages"]], _STATES, f"{where}.stages have a state")
    if any((stage[time] or 0) < 0 for stage in summary["stages"] for time in ("seconds", "elapsed")):
        raise BadForm(f"{where}.stages have a negative time")
    if (error := summary["error"]) is not None:
        _check_known([error["stage"]], (*known, RUN), f"{where}.error has a stage")
        if len({error[name] is None for name in ("file", "label", "line")}) > 1:
            raise BadForm(f"{where}.error must have a file, its label and a line, or none of them")


def _check_documents(summary: Summary, documents: Mapping[str, Document], where: str) -> None:
    titled = {document["kind"]: document for document in summary["documents"]}
    if len(titled) < len(summary["documents"]):
        raise BadForm(f"{where}.documents names a kind twice")
    _check_known(documents, titled, f"{where}.documents lacks a kind", "")
    for kind, document in documents.items():
        if (lines := titled[kind]["lines"]) is not None and lines != len(document):
            raise BadForm(f"{where}.documents says {lines:,} lines of {kind}, which has {len(document):,}")


def _check_figures(summary: Summary, where: str) -> None:
    if (counts := summary["coverage"]) is not None:
        linked = (counts["direct"], counts["library"], counts["inferred"])
        if min(linked) < 0 or sum(linked) > counts["total"]:
            raise BadForm(f"{where}.coverage links {', '.join(map(str, linked))} of {counts['total']} operations")


def _check_known(values: Iterable[str], known: Iterable[str], what: str, hint: str = "; there are {}") -> None:
    for value in values:
        if value not in known:
            raise BadForm(f"{what} {quoted(value)}{hint.format(', '.join(known))}")


def _check_cells(table: ComparisonForm, where: str) -> None:
    """Every row has a cell of each column."""
    names = [column["name"] for column in table["columns"]]
    if len(set(names)) < len(names):
        raise BadForm(f"{where} names a column twice")
    for row in table["rows"]:
        if missing := [name for name in names if name not in row["cells"]]:
            raise BadForm(f"{where} has no {quoted(missing[0])} of {quoted(row['target'])}")
