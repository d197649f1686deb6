"""What a program's layout costs unasked, said at the line: values that are laid anew, and values gathered whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.analysis import lines
from jaxstage_ext.analysis.causes import Cause
from jaxstage_ext.analysis.collectives import Collectives, Row
from jaxstage_ext.analysis.lines import Lane, Mark
from jaxstage_ext.analysis.propagation import CONSTRAINTS
from jaxstage_ext.analysis.rematerialised import Rematerialised
from jaxstage_ext.analysis.table import scaled
from jaxstage_ext.report import Document

RESHARDING, ASKED, REMATERIALISATION = "resharding", "asked", "rematerialisation"
"""A value that is used in another sharding than it has; one that the program itself lays anew; one that every device
gets whole because the compiler knows no direct way."""
_RESHARDING = "resharding of "
_SAYS_SO = (
    "The program asks for this layout here. If it is not worth the exchange, give the value that layout where it is "
    "made, or drop the constraint."
)
_OUT_SAYS_SO = "The result's sharding asks for this: see out_shardings, or leave it to the compiler."
_TO_DO = (
    "To do without: give the value the sharding that it is used in where it is made (in_shardings of an argument, "
    "jax.lax.with_sharding_constraint), or lay its user as the value lies."
)
_IN_STEPS = (
    "To do without: change one mesh axis at a time (two jax.lax.with_sharding_constraint, one after the other), or "
    "make the value in the sharding that it is used in."
)


@dataclass(frozen=True)
class Warned:
    """One of them.

    Attributes:
      kind: RESHARDING, ASKED or REMATERIALISATION.      text: what happened and what to do.
      line: of the user's source, "" unknown.            row: of the HLO document, -1 none.
    """

    kind: str
    text: str
    line: str
    row: int


def read(found: Collectives, document: Document) -> tuple[Warned, ...]:
    """Of a program, the gravest first: what is gathered whole, then what is laid anew, the costliest first."""
    whole = [_whole(one, document) for one in found.warnings]
    moved = [warning for row in found.rows if (warning := _moved(found, row)) is not None]
    return (*whole, *sorted(moved, key=lambda one: one.kind == ASKED))


def _whole(one: Rematerialised, document: Document) -> Warned:
    number = document.scopes.index(one.scope) if one.scope in document.scopes else None
    rows = [] if number is None else np.flatnonzero(document.scope == number).tolist()
    gathers = [row for row in rows if " all-gather" in document.lines[row]]
    return Warned(REMATERIALISATION, f"{one}\n{_IN_STEPS}", one.line, (gathers or rows or [-1])[0])


def _moved(found: Collectives, row: Row) -> Warned | None:
    causes = [cause for cause in row.causes if cause.text.startswith(_RESHARDING)]
    if not causes:
        return None
    asked = [_asked(cause) for cause in causes]
    advice = _OUT_SAYS_SO if "result" in asked else _SAYS_SO if all(asked) else _TO_DO
    told = [f"Resharding: {_way(cause)}" for cause in causes]
    kind = ASKED if all(asked) else RESHARDING
    line = next((cause.line for cause in causes if cause.line), "") or found.line(row).split(", ")[0]
    return Warned(kind, "\n".join([*told, _cost(found, row), advice]), line, found.document_row(row))


def _asked(cause: Cause) -> str:
    """The primitive by which the program itself asks for it, "result" for its results; empty where nothing does."""
    _, _, users = cause.text.partition(" for ")
    names = users.removesuffix(" (inferred)").split(", ")
    return "result" if names == ["the result"] else next((name for name in names if name in CONSTRAINTS), "")


def _way(cause: Cause) -> str:
    way = f" lies as {cause.before}" if cause.before else ""
    wanted = f", wanted as {cause.after}" if cause.after else ""
    return f"{cause.text.removeprefix(_RESHARDING)}{':' if way or wanted else ''}{way}{wanted}."


def _cost(found: Collectives, row: Row) -> str:
    axes = f" over {', '.join(map(str, row.groups.axes))}" if row.groups.axes else ""
    sent = "" if row.total_sent is None else f", {scaled(row.total_sent, 'B')} sent by each device"
    time = "" if row.total_seconds is None else f", at least {scaled(row.total_seconds, 's')}"
    return f"{found.name(row.found.row)}: {row.found.kind}{axes}{sent}{time}."


def lane(warnings: Sequence[Warned], documents: Mapping[str, Document]) -> tuple[Lane, list[list[tuple[str, int]]]]:
    """The warnings beside the lines of source and HLO, and for each the (document, row) where it stands."""
    rows = lines.rows_by_line(documents["python"]) if "python" in documents else {}
    marks: dict[str, dict[int, Mark]] = {"python": {}, "hlo": {}}
    places = []
    for one in warnings:
        where = [(kind, row) for kind, row in (("python", rows.get(one.line, -1)), ("hlo", one.row)) if row >= 0]
        places.append(where)
        for kind, row in where:
            before = marks[kind].get(row)
            text = one.text if before is None else f"{before.text}\n{one.text}"
            graver = before.kind if before is not None and before.kind != ASKED else one.kind
            marks[kind][row] = Mark("", graver, text)
    return Lane(marks), places
