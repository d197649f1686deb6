"""The collectives of a module: between which devices, how many bytes, how long at least, hidden or exposed, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from jaxstage_ext.analysis.collectives import collective_wording
from jaxstage_ext.analysis.collectives import device_groups as sets
from jaxstage_ext.analysis.collectives.causes import Cause, Causes, Exchanged
from jaxstage_ext.analysis.collectives.collective_ops import Collectives as Finder
from jaxstage_ext.analysis.collectives.collective_ops import Found
from jaxstage_ext.analysis.collectives.device_groups import Groups
from jaxstage_ext.analysis.collectives.interconnect import Links, sent
from jaxstage_ext.analysis.cost import executions
from jaxstage_ext.analysis.cost.executions import Executions
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.sharding import partitioner_warnings
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.partitioner_warnings import Rematerialised
from jaxstage_ext.analysis.sharding.propagation import Propagated
from jaxstage_ext.ir.hlo import schedule
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.report.table import Column, Table

EXPOSED, HIDDEN = "exposed", "overlapped"
_MOST = 3
_SHOWN = ("collective", "axes", "payload", "sent", "time", "runs", "overlap", "cause", "from", "to", "line")
"""Columns of the text form."""


@dataclass(frozen=True, eq=False)
class Row:
    """One collective.

    Attributes:
      found: its instructions.      groups: who exchanges with whom.      inputs: the instructions that go in.
      payload: bytes on one device.      sent: bytes that one device sends in one run at least; None unknown.
      runs: times in one run of the module.      in_unknown_loop: whether a loop of unknown length is around it.
      seconds: of one run at least, None unknown for `why_no_seconds`.
      meanwhile: instructions that work between its start and its end; None where the order is not known.
    """

    found: Found = field(repr=False)
    groups: Groups
    inputs: tuple[int, ...]
    payload: int
    sent: float | None
    runs: float
    in_unknown_loop: bool
    seconds: float | None
    why_no_seconds: str
    meanwhile: tuple[int, ...] | None
    causes: tuple[Cause, ...]

    @property
    def total_sent(self) -> float | None:
        return None if self.sent is None else self.sent * self.runs

    @property
    def total_seconds(self) -> float | None:
        return None if self.seconds is None else self.seconds * self.runs

    @property
    def overlap(self) -> str | None:
        return None if self.meanwhile is None else HIDDEN if self.meanwhile else EXPOSED


@dataclass(frozen=True, eq=False)
class Collectives:
    """The collectives of a module, the costliest first.

    Attributes:
      warnings: what the partitioner said, each with the source line where it is known.
      devices: how many the program runs on.
    """

    ops: Module = field(repr=False)
    places: Places = field(repr=False)
    rows: tuple[Row, ...]
    warnings: tuple[Rematerialised, ...] = ()
    notes: tuple[str, ...] = ()
    devices: int = 1

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def headline(self) -> str:
        """The costliest, its source line and why it is there, in a sentence; why there is none."""
        return collective_wording.headline(self)

    def name(self, instruction: int) -> str:
        return self.ops.names[instruction].decode("utf-8", "replace")

    def document_row(self, row: Row) -> int:
        """The row of the HLO document, that of the start where the text leaves the rest out; -1 where it has none."""
        rows = (int(self.places.row[instruction]) for instruction in (row.found.row, row.found.start))
        return next((number for number in rows if number >= 0), -1)

    def lines(self, row: Row) -> list[str]:
        """The source line, or those of all operands where the compiler combined several collectives."""
        lines = [self.places.line[part] for part in row.inputs] if len(row.inputs) > 1 else []
        own = self.places.line[row.found.row] or self.places.line[row.found.start]
        lines += [cause.line for cause in row.causes] if len(row.causes) > 1 else []
        return list(dict.fromkeys(line for line in [own, *lines] if line))

    def line(self, row: Row) -> str:
        """The source lines as one text, "" unknown."""
        every = self.lines(row)
        return ", ".join(every[:_MOST]) + (f" and {len(every) - _MOST} more" if len(every) > _MOST else "")

    @cached_property
    def table(self) -> Table:
        rows = self.rows
        axes = [None if row.groups.axes is None else ", ".join(map(str, row.groups.axes)) for row in rows]
        columns = {
            "collective": Column([row.found.kind for row in rows]),
            "axes": Column(axes, "", "mesh axes along which a group lies"),
            "groups": Column([str(row.groups) for row in rows], "", "numbers in the device assignment"),
            "devices": Column([row.groups.size for row in rows], "", "of one group"),
            "payload": Column([row.payload for row in rows], "B", "on one device, one run"),
            "sent": Column(_floats(row.total_sent for row in rows), "B", "by one device at least, all runs"),
            "time": Column(_floats(row.total_seconds for row in rows), "s", "at least, all runs, by the links alone"),
            "runs": Column([row.runs for row in rows], "", "times in one run of the module"),
            "overlap": Column([row.overlap for row in rows], "", "whether work is scheduled between start and end"),
            "meanwhile": Column([self._meanwhile(row) for row in rows]),
            "cause": Column([_joined(cause.text for cause in row.causes) for row in rows]),
            "from": Column(
                [_forced(row, [cause.before for cause in row.causes]) for row in rows], "", "sharding of what goes in"
            ),
            "to": Column(
                [_forced(row, [cause.after for cause in row.causes]) for row in rows], "", "and of what it is for"
            ),
            "line": Column([self.line(row) or None for row in rows]),
            "instruction": Column([self.name(row.found.row) for row in rows]),
            "row": Column([self.document_row(row) for row in rows], "", "row of the HLO document"),
        }
        return Table("collectives", columns, self._reasons(), (*self.notes, *map(str, self.warnings)))

    def _meanwhile(self, row: Row) -> str | None:
        if row.meanwhile is None:
            return None
        names = [self.name(instruction) for instruction in row.meanwhile]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def _reasons(self) -> dict[tuple[int, str], str]:
        reasons: dict[tuple[int, str], str] = {}
        for place, row in enumerate(self.rows):
            told: dict[str, Any] = {
                "time": row.why_no_seconds,
                "devices": row.groups.problem,
                "axes": "" if row.groups.axes is not None else "the groups lie along no axes of the program's mesh",
                "overlap": "the module has no schedule" if row.meanwhile is None else "",
                "cause": next((cause.why_unknown for cause in row.causes), "it has no name scope"),
                "runs": "inside a loop of unknown length, counted once" if row.in_unknown_loop else "",
            }
            reasons |= {(place, column): why for column, why in told.items() if why}
        return reasons

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """The table as versioned JSON."""
        return self.table.to_json()

    def __str__(self) -> str:
        if not self.rows:
            return self.headline
        shown = replace(self.table, columns={name: self.table.columns[name] for name in _SHOWN})
        return f"{self.headline}\n{shown}"

    __repr__ = __str__


def _joined(texts: Iterable[str]) -> str | None:
    every = list(dict.fromkeys(filter(None, texts)))
    return "; ".join(every[:_MOST]) + (f" and {len(every) - _MOST} more" if len(every) > _MOST else "") or None


def _forced(row: Row, specs: Sequence[str]) -> str | None:
    """The shardings that forced it; "" for what was written as a collective, None where they are not known."""
    written = bool(row.causes) and all(cause.text and not cause.why_unknown for cause in row.causes)
    return _joined(specs) or ("" if written else None)


def _floats(values: Any) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


@dataclass(frozen=True)
class Program:
    """What is to be known of a module beside itself.

    Attributes:
      devices: how many it runs on.      meshes: its own; their axes name the groups.
      links: of one device of the target.
      propagated: the module before it was partitioned; None where it is not known, for `why_unknown`.
      warnings: lines that the partitioner logged.
    """

    devices: int
    meshes: Sequence[Mesh] = ()
    links: Links = field(default_factory=Links)
    propagated: Propagated | None = None
    why_unknown: str = ""
    warnings: Sequence[str] = ()


def read(module: Module, places: Places, program: Program) -> Collectives:
    """The collectives of a module, with the source line and name scope of each of its instructions."""
    finder = Finder(module, schedule.places(module))
    reasons = Causes(module, places.line, program.propagated, program.why_unknown)
    runs = executions.count(module)
    rows = [_row(found, finder, runs, reasons, program) for found in finder.found]
    timed = all(row.seconds is not None for row in rows)
    rows.sort(key=lambda row: (-(row.total_seconds or 0) if timed else 0, -(row.total_sent or 0)))
    warnings = partitioner_warnings.read(program.warnings, module, places.line, program.propagated)
    return Collectives(module, places, tuple(rows), warnings, _notes(rows, program.links), program.devices)


def _row(found: Found, finder: Finder, runs: Executions, reasons: Causes, program: Program) -> Row:
    computation = finder.computation(found)
    groups = sets.named(sets.read(found.message, found.kind, program.devices), program.meshes)
    given = finder.given(found)
    payload = given * (groups.size or 1) if found.kind == "all-gather" else given
    out = None if groups.size is None else sent(found.kind, payload, groups.size)
    seconds, why = _seconds(out, groups, program.links)
    meanwhile = tuple(finder.between(found)) if finder.is_scheduled else None
    times, unknown = float(runs.times[computation]), bool(runs.unknown[computation])
    inputs = tuple(finder.inputs(found))
    causes = reasons.of(found, inputs, _exchanged(found, finder, groups))
    return Row(found, groups, inputs, payload, out, times, unknown, seconds, why, meanwhile, causes)


def _exchanged(found: Found, finder: Finder, groups: Groups) -> Exchanged:
    """The value in question is what goes in; of a scattered sum it may be what comes out."""
    given = finder.elements(found)
    sizes = {given, given // (groups.size or 1)} if found.kind == "reduce-scatter" else {given}
    axes = frozenset(axis.name for axis in groups.axes or ())
    return Exchanged(found.kind, frozenset(sizes), finder.shapes(found), finder.shapes_given(found), axes)


def _seconds(out: float | None, groups: Groups, links: Links) -> tuple[float | None, str]:
    if out is None:
        return None, groups.problem or "what this collective sends is not known"
    if out == 0:
        return 0.0, ""
    bandwidth, why = links.along(groups)
    return (None, why) if bandwidth is None else (out / bandwidth, "")


def _notes(rows: Sequence[Row], links: Links) -> tuple[str, ...]:
    notes = []
    if any(row.seconds for row in rows):
        notes.append(f"time: bytes sent by the bandwidth of the links that lead along the group ({links.source}).")
    unknown = sum(row.in_unknown_loop for row in rows)
    if unknown:
        notes.append(f"{unknown} of {len(rows)} are inside a loop of unknown length, which counts once.")
    return tuple(notes)
