"""Collectives that one line causes for one reason, as in each layer of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.margin.resharding_warnings import masked
from jaxstage_ext.findings.finding import StakeMeasure


def groups(found: Collectives) -> list[list[CollectiveRow]]:
    """The collectives that are alike, those that are exposed longest, or send most, first."""
    alike: dict[tuple[object, ...], list[CollectiveRow]] = {}
    for row in found.rows:
        causes = (replace(masked(cause), lines=()) for cause in row.causes)
        alike.setdefault((row.op.kind, row.groups.axes or (), line(found, [row]), *causes), []).append(row)
    return sorted(alike.values(), key=lambda rows: (-(exposed(rows) or 0.0), -(sent(rows) or 0.0)))


def line(found: Collectives, rows: Sequence[CollectiveRow]) -> str:
    """The first line that causes them, "" unknown."""
    return next(iter(found.lines(rows[0])), "")


def document_rows(found: Collectives, rows: Sequence[CollectiveRow]) -> tuple[int, ...]:
    """Where they stand in the optimised HLO."""
    return tuple(place for row in rows if (place := found.document_row(row)) >= 0)


def exposed(rows: Sequence[CollectiveRow]) -> float | None:
    """Seconds that no other work hides; None where unknown."""
    return _total([row.exposed for row in rows])


def sent(rows: Sequence[CollectiveRow]) -> float | None:
    """Bytes that a device sends; None where unknown."""
    return _total([row.total_sent for row in rows])


def amount(rows: Sequence[CollectiveRow], measure: StakeMeasure) -> float | None:
    """What they take of a measure, the time that they are exposed or the bytes sent."""
    return exposed(rows) if measure is StakeMeasure.TIME else sent(rows)


def _total(amounts: Sequence[float | None]) -> float | None:
    known = [one for one in amounts if one is not None]
    return float(sum(known)) if len(known) == len(amounts) and amounts else None
