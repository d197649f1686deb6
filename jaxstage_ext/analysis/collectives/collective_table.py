"""The collectives of a module as one table, with the costliest of them in a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Unpack

from jaxstage_ext.analysis.collectives import collective_rows
from jaxstage_ext.analysis.collectives import collective_wording as wording
from jaxstage_ext.analysis.collectives.collective_causes import CauseKind
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow, Overlap, Sent, SourceProgram
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.sharding import partitioner_warnings
from jaxstage_ext.analysis.sharding.partitioner_warnings import Rematerialised
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of

_SHOWN = ("collective", "axes", "payload", "sent", "time", "exposed", "runs", "overlap", "cause", "from", "to", "line")
"""Columns of the text form."""


@dataclass(frozen=True, eq=False)
class Collectives:
    """The collectives of a module, the costliest first."""

    ops: Module = field(repr=False)
    places: Places = field(repr=False)
    rows: tuple[CollectiveRow, ...]
    warnings: tuple[Rematerialised, ...] = ()
    """What the partitioner warned of, with source lines where known."""
    notes: tuple[str, ...] = ()
    devices: int = 1
    """How many the program runs on."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def headline(self) -> str:
        """The costliest collective, its source line and cause in a sentence; or that there is none."""
        return wording.headline(self.rows, self.line(self.rows[0]) if self.rows else "", self.devices)

    @property
    def sent(self) -> Sent:
        """What one device sends in one run."""
        return collective_rows.total_sent(self.rows, self.devices)

    def name(self, instruction: int) -> str:
        return self.ops.names[instruction].decode("utf-8", "replace")

    def document_row(self, row: CollectiveRow) -> int:
        """The row of the HLO document; that of the start where the text leaves out the rest, -1 for none."""
        rows = (int(self.places.row[instruction]) for instruction in (row.op.row, row.op.start))
        return next((number for number in rows if number >= 0), -1)

    def lines(self, row: CollectiveRow) -> list[str]:
        """The lines that cause it, several where the compiler combined collectives; its own where none is known."""
        lines = [line for cause in row.causes for line in cause.lines]
        if not lines or not all(cause.lines for cause in row.causes):
            lines += [self.places.line[row.op.row] or self.places.line[row.op.start]]
            lines += [self.places.line[part] for part in row.inputs] if len(row.inputs) > 1 else []
        return list(dict.fromkeys(line for line in lines if line))

    def line(self, row: CollectiveRow) -> str:
        """The source lines as one text, "" unknown."""
        if any(cause.is_between for cause in row.causes):
            return wording.between(self.lines(row))
        return wording.listed(self.lines(row), ", ")

    @property
    def exposed(self) -> list[bool]:
        """Per collective, whether no other work hides any of it."""
        return [row.overlap is Overlap.EXPOSED for row in self.rows]

    @cached_property
    def table(self) -> Table:
        rows = self.rows
        axes = [None if row.groups.axes is None else ", ".join(map(str, row.groups.axes)) for row in rows]
        columns = {
            "collective": Column([row.op.kind for row in rows]),
            "axes": Column(axes, "", "mesh axes that a group spans"),
            "groups": Column([str(row.groups) for row in rows], "", "positions in the device assignment"),
            "devices": Column([row.groups.size for row in rows], "", "in each group"),
            "payload": Column([row.payload for row in rows], "B", "per device and run"),
            "sent": Column(_floats(row.total_sent for row in rows), "B", "by each sender in all runs, lower bound"),
            "time": Column(_floats(row.total_seconds for row in rows), "s", "of all runs, lower bound"),
            "exposed": Column(_floats(row.exposed for row in rows), "s", "of this, what no other work hides"),
            "runs": Column([row.runs for row in rows], "", "times in one run of the module"),
            "overlap": Column(
                [row.overlap and row.overlap.value for row in rows],
                "",
                "with other work",
            ),
            "meanwhile": Column([self._meanwhile(row) for row in rows]),
            "cause": Column([_joined(map(wording.cause, row.causes)) for row in rows], is_answer=True),
            "from": Column(
                [_forced(row, map(wording.before, row.causes)) for row in rows], "", "sharding of what goes in"
            ),
            "to": Column([_forced(row, map(wording.after, row.causes)) for row in rows], "", "sharding of its use"),
            "line": Column([self.line(row) or None for row in rows]),
            "instruction": Column([self.name(row.op.row) for row in rows]),
            "row": Column([self.document_row(row) for row in rows], "", "row of the HLO document"),
        }
        notes, scopes = (*self.notes, *map(str, self.warnings)), [self.places.scope[row.op.row] for row in rows]
        return Table("collectives", columns, self._reasons(), notes, scopes=scopes, adds_up=("sent", "time", "exposed"))

    def _meanwhile(self, row: CollectiveRow) -> str | None:
        if row.meanwhile is None:
            return None
        return wording.listed([self.name(instruction) for instruction in row.meanwhile], ", ")

    def _reasons(self) -> dict[tuple[int, str], str]:
        reasons: dict[tuple[int, str], str] = {}
        for place, row in enumerate(self.rows):
            unknown: dict[str, str] = {
                "time": row.why_no_seconds,
                "exposed": "" if row.exposed is not None else row.why_no_seconds or wording.NO_SCHEDULE,
                "devices": row.groups.problem,
                "axes": "" if row.groups.axes is not None else wording.NO_AXES,
                "overlap": wording.NO_SCHEDULE if row.meanwhile is None else "",
                "cause": next((cause.why_unknown for cause in row.causes), wording.NO_SCOPE),
                "runs": wording.IN_LOOP if row.in_unknown_loop else "",
            }
            reasons |= {(place, column): why for column, why in unknown.items() if why}
        return reasons

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON; with `limit`, `by` or `where`, rows of it, as `Table.to_json` has them."""
        return self.table.to_json(**rows)

    def _parts(self) -> list[Part]:
        if not self.rows:
            return [self.headline]
        shown = replace(self.table, columns={name: self.table.columns[name] for name in _SHOWN})
        return [self.headline, shown]

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self._parts())


def _joined(texts: Iterable[str]) -> str | None:
    every = list(dict.fromkeys(filter(None, texts)))
    return wording.listed(every, "; ") or None


def _forced(row: CollectiveRow, specs: Iterable[str]) -> str | None:
    """The shardings that caused it; "" for a collective that the program calls, None where unknown."""
    written = bool(row.causes) and all(cause.is_known and not cause.why_unknown for cause in row.causes)
    return _joined(specs) or ("" if written else None)


def _floats(values: Iterable[float | None]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


def read(module: Module, places: Places, program: SourceProgram) -> Collectives:
    """The collectives of a module, with the source line and name scope of each of its instructions."""
    rows = collective_rows.read(module, places, program)
    warnings = partitioner_warnings.read(program.warnings, module, places.line, program.propagated)
    return Collectives(module, places, tuple(rows), warnings, _notes(rows, program.links.source), program.devices)


def _notes(rows: Sequence[CollectiveRow], source: str) -> tuple[str, ...]:
    unknown = sum(row.in_unknown_loop for row in rows)
    notes = [wording.time_note(source)] if any(row.seconds for row in rows) else []
    is_resharded = any(cause.kind is CauseKind.RESHARDING for row in rows for cause in row.causes)
    notes += [wording.TRY] if is_resharded else []
    return (*notes, wording.loop_note(unknown, len(rows))) if unknown else tuple(notes)
