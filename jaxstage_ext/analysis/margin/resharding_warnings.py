"""What a program's layout costs unasked, said at the line: values that are laid anew, and values gathered whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.analysis.collectives.causes import Cause
from jaxstage_ext.analysis.collectives.collective_table import Collectives, Row
from jaxstage_ext.analysis.margin import line_values
from jaxstage_ext.analysis.margin.line_values import Lane, Mark
from jaxstage_ext.analysis.sharding.partitioner_warnings import Rematerialised
from jaxstage_ext.analysis.sharding.propagation import CONSTRAINTS
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.table import scaled

RESHARDING, ASKED, REMATERIALISATION = "resharding", "asked", "rematerialisation"
"""A value that is used in another sharding than it has; one that the program itself lays anew; one that every device
gets whole because the compiler knows no direct way."""
_RESHARDING = "resharding of "
_PLACE = re.compile(r"\[\d+\]")
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
    """One of them, which may stand at several lines of the optimised module.

    Attributes:
      kind: RESHARDING, ASKED or REMATERIALISATION.      text: what happened and what to do.
      line: of the user's source, "" unknown.            rows: of the HLO document.
    """

    kind: str
    text: str
    line: str
    rows: tuple[int, ...]


def read(found: Collectives, document: Document) -> tuple[Warned, ...]:
    """Of a program, the gravest first: what is gathered whole, then what is laid anew, the costliest first."""
    whole = [_whole(one, document) for one in found.warnings]
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in found.rows:
        if key := _alike(found, row):
            alike.setdefault(key, []).append(row)
    costliest = sorted(alike.values(), key=lambda rows: -sum(row.total_sent or 0 for row in rows))
    moved = [_moved(found, rows) for rows in costliest]
    return (*whole, *sorted(moved, key=lambda one: one.kind == ASKED))


def _whole(one: Rematerialised, document: Document) -> Warned:
    number = document.scopes.index(one.scope) if one.scope in document.scopes else None
    rows = [] if number is None else np.flatnonzero(document.scope == number).tolist()
    gathers = [row for row in rows if " all-gather" in document.lines[row]]
    return Warned(REMATERIALISATION, f"{one}\n{_IN_STEPS}", one.line, tuple(gathers or rows[:1]))


def _causes(row: Row) -> list[Cause]:
    return [cause for cause in row.causes if cause.text.startswith(_RESHARDING)]


def _line(found: Collectives, row: Row) -> str:
    return next((cause.line for cause in _causes(row) if cause.line), "") or found.line(row).split(", ")[0]


def _alike(found: Collectives, row: Row) -> tuple[str, ...]:
    """The same for reshardings that one line causes, as in each layer of a model; empty for no resharding."""
    ways = [_PLACE.sub("[…]", _way(cause)) for cause in _causes(row)]
    return (row.found.kind, _axes(row), _line(found, row), *ways) if ways else ()


def _moved(found: Collectives, rows: Sequence[Row]) -> Warned:
    causes = _causes(rows[0])
    asked = [_asked(cause) for cause in causes]
    advice = _OUT_SAYS_SO if "result" in asked else _SAYS_SO if all(asked) else _TO_DO
    ways = _alike(found, rows[0])[3:] if len(rows) > 1 else [_way(cause) for cause in causes]
    told = [f"Resharding: {way}" for way in ways]
    kind = ASKED if all(asked) else RESHARDING
    places = tuple(place for row in rows if (place := found.document_row(row)) >= 0)
    return Warned(kind, "\n".join([*told, _cost(found, rows), advice]), _line(found, rows[0]), places)


def _asked(cause: Cause) -> str:
    """The primitive by which the program itself asks for it, "result" for its results; empty where nothing does."""
    _, _, users = cause.text.partition(" for ")
    names = users.removesuffix(" (inferred)").split(", ")
    return "result" if names == ["the result"] else next((name for name in names if name in CONSTRAINTS), "")


def _way(cause: Cause) -> str:
    """What is laid anew, how it comes, and how that lies for which it is made."""
    value = cause.text.removeprefix(_RESHARDING)
    if not cause.before:
        why = f", for {cause.why_unknown}" if cause.why_unknown else ""
        return f"{value}; between which shardings is not known{why}."
    if cause.before == cause.after:
        return f"{value}: lies as {cause.before}, and so does its user, which needs more of it on a device."
    return f"{value}: lies as {cause.before}" + (f", its user as {cause.after}." if cause.after else ".")


def _axes(row: Row) -> str:
    return f" over {', '.join(map(str, row.groups.axes))}" if row.groups.axes else ""


def _cost(found: Collectives, rows: Sequence[Row]) -> str:
    """What the reshardings exchange together; unknown where that of one is."""
    names = [found.name(row.found.row) for row in rows]
    named = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    sent, seconds = ([getattr(row, name) for row in rows] for name in ("total_sent", "total_seconds"))
    bytes_ = "" if None in sent else f", {scaled(sum(sent), 'B')} sent by each device"
    time = "" if None in seconds else f", at least {scaled(sum(seconds), 's')}"
    return f"{named}: {rows[0].found.kind}{_axes(rows[0])}{bytes_}{time}{' in all' if len(rows) > 1 else ''}."


def lane(warnings: Sequence[Warned], documents: Mapping[str, Document]) -> tuple[Lane, list[list[tuple[str, int]]]]:
    """The warnings beside the lines of source and HLO, and for each the (document, row) where it stands."""
    sources = line_values.rows_by_line(documents["python"]) if "python" in documents else {}
    here: dict[str, dict[int, list[Warned]]] = {"python": {}, "hlo": {}}
    places = []
    for one in warnings:
        source = sources.get(one.line, -1)
        where = ([("python", source)] if source >= 0 else []) + [("hlo", row) for row in one.rows]
        places.append(where)
        for kind, row in where:
            here[kind].setdefault(row, []).append(one)
    return Lane({kind: {row: _mark(its) for row, its in rows.items()} for kind, rows in here.items()}), places


def _mark(warnings: Sequence[Warned]) -> Mark:
    """All that happened at a line, then what to do."""
    happened, advice = zip(*(one.text.rsplit("\n", 1) for one in warnings), strict=True)
    kind = next((one.kind for one in warnings if one.kind != ASKED), ASKED)
    return Mark("", kind, "\n".join([*dict.fromkeys(happened), *dict.fromkeys(advice)]))
