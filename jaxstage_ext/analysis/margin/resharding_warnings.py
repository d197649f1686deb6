"""Warnings of a program's sharding at its lines: values that are resharded, and values that are fully replicated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from jaxstage_ext.analysis.collectives.collective_causes import CauseKind, CollectiveCause
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.margin import line_values
from jaxstage_ext.analysis.margin import resharding_wording as wording
from jaxstage_ext.analysis.margin.line_values import Lane, Mark
from jaxstage_ext.analysis.margin.resharding_wording import ReshardingAdvice
from jaxstage_ext.analysis.sharding.partitioner_warnings import Rematerialised
from jaxstage_ext.analysis.sharding.propagation import CONSTRAINTS
from jaxstage_ext.report.document import Document

_INDEX = re.compile(r"\[\d+\]")
"""A number in the path of a value, such as that of a layer."""


class WarningKind(StrEnum):
    """RESHARDING: a value is used with another sharding than it has.    ASKED: the program itself asks for that.

    REMATERIALISATION: every device gets all of a value because the compiler knows no direct way.
    """

    RESHARDING = "resharding"
    ASKED = "asked"
    REMATERIALISATION = "rematerialisation"


@dataclass(frozen=True)
class Warned:
    """One warning, which may stand at several lines of the optimised module."""

    kind: WarningKind
    happened: str
    """What happened, in words."""
    advice: str
    """What to do, in words."""
    line: str
    """Source line, "" unknown."""
    rows: tuple[int, ...]
    """Of the HLO document."""

    @property
    def text(self) -> str:
        """What happened and what to do, line by line."""
        return f"{self.happened}\n{self.advice}"


def read(collectives: Collectives, document: Document) -> tuple[Warned, ...]:
    """The warnings of a program: full replication first, then reshardings, the costliest first."""
    rematerialised = [_rematerialised(warning, document) for warning in collectives.warnings]
    alike: dict[tuple[object, ...], list[CollectiveRow]] = {}
    for row in collectives.rows:
        if _causes(row):
            alike.setdefault(_key(collectives, row), []).append(row)
    costliest = sorted(alike.values(), key=lambda rows: -sum(row.total_sent or 0 for row in rows))
    moved = [_moved(collectives, rows) for rows in costliest]
    return (*rematerialised, *sorted(moved, key=lambda warned: warned.kind is WarningKind.ASKED))


def _rematerialised(warning: Rematerialised, document: Document) -> Warned:
    number = document.scopes.index(warning.scope) if warning.scope in document.scopes else None
    rows = [] if number is None else np.flatnonzero(document.scope == number).tolist()
    gathers = [row for row in rows if " all-gather" in document.lines[row]]
    kind = WarningKind.REMATERIALISATION
    return Warned(kind, str(warning), ReshardingAdvice.IN_STEPS.value, warning.line, tuple(gathers or rows[:1]))


def _causes(row: CollectiveRow) -> list[CollectiveCause]:
    return [cause for cause in row.causes if cause.kind is CauseKind.RESHARDING]


def _line(collectives: Collectives, row: CollectiveRow) -> str:
    return next(iter(collectives.lines(row)), "")


def _key(collectives: Collectives, row: CollectiveRow) -> tuple[object, ...]:
    """Equal for reshardings that one line causes, as in each layer of a model."""
    causes = [replace(masked(cause), lines=()) for cause in _causes(row)]
    return (row.op.kind, row.groups.axes or (), _line(collectives, row), *causes)


def masked(cause: CollectiveCause) -> CollectiveCause:
    """A cause without the numbers in its values' paths."""
    values, users = (tuple(_INDEX.sub("[…]", name) for name in names) for names in (cause.values, cause.users))
    return replace(cause, values=values, users=users)


def _moved(collectives: Collectives, rows: Sequence[CollectiveRow]) -> Warned:
    causes = _causes(rows[0])
    asked = [_is_result(cause) or _is_asked(cause) for cause in causes]
    advice = (
        ReshardingAdvice.RESULT
        if any(map(_is_result, causes))
        else ReshardingAdvice.ASKED
        if all(asked)
        else ReshardingAdvice.AVOID
    )
    shown = [masked(cause) for cause in causes] if len(rows) > 1 else causes
    names = [collectives.name(row.op.row) for row in rows]
    happened = "\n".join([*map(wording.resharding, shown), wording.cost(names, rows, _line(collectives, rows[0]))])
    places = tuple(place for row in rows if (place := collectives.document_row(row)) >= 0)
    kind = WarningKind.ASKED if all(asked) else WarningKind.RESHARDING
    return Warned(kind, happened, advice.value, _line(collectives, rows[0]), places)


def _is_result(cause: CollectiveCause) -> bool:
    """Whether a value is resharded only because the result has another sharding."""
    return cause.is_result and not cause.users


def _is_asked(cause: CollectiveCause) -> bool:
    """Whether the program itself asks for a resharding."""
    return any(name in CONSTRAINTS for name in cause.users)


def lane(warnings: Sequence[Warned], documents: Mapping[str, Document]) -> tuple[Lane, list[list[tuple[str, int]]]]:
    """The warnings beside the lines of source and HLO, and for each the (document, row) pairs where it stands."""
    sources = line_values.rows_by_line(documents["python"]) if "python" in documents else {}
    at_row: dict[str, dict[int, list[Warned]]] = {"python": {}, "hlo": {}}
    places = []
    for warning in warnings:
        source = sources.get(warning.line, -1)
        where = ([("python", source)] if source >= 0 else []) + [("hlo", row) for row in warning.rows]
        places.append(where)
        for kind, row in where:
            at_row[kind].setdefault(row, []).append(warning)
    return Lane({kind: {row: _mark(on_row) for row, on_row in rows.items()} for kind, rows in at_row.items()}), places


def _mark(warnings: Sequence[Warned]) -> Mark:
    """Everything that happened at a line, then what to do."""
    happened = dict.fromkeys(warned.happened for warned in warnings)
    advice = dict.fromkeys(warned.advice for warned in warnings)
    kinds = [warned.kind for warned in warnings if warned.kind is not WarningKind.ASKED]
    return Mark("", kinds[0] if kinds else WarningKind.ASKED, "\n".join([*happened, *advice]))
