"""The cost of each HLO instruction: FLOPs, transcendentals, bytes; totals by line, scope, computation, opcode, dtype.

A row is an instruction of the schedule: a fusion has the work of its members, which have no rows. Totals by line,
scope, opcode or dtype are those of the members that do the work, by `attribution`. Every figure is for one run of the
module on one device; the body of a loop counts as often as it is known to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import attribution, inferred_lines, work_ranges
from jaxstage_ext.analysis.cost import cost_wording as wording
from jaxstage_ext.analysis.cost.attribution import Attribution, InstructionWork
from jaxstage_ext.analysis.cost.ceilings import Ceiling
from jaxstage_ext.analysis.cost.loops import executions
from jaxstage_ext.analysis.cost.loops.executions import Executions
from jaxstage_ext.analysis.cost.rules import flops, traffic
from jaxstage_ext.analysis.cost.rules.library_calls import Counted
from jaxstage_ext.analysis.cost.work_columns import TRANSCENDENTALS, intensity
from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.analysis.cost.work_ranges import Control
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import TYPES
from jaxstage_ext.report.numbering import numbered
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Table

Floats = npt.NDArray[np.float64]

GROUPS = ("line", "scope", "computation", "opcode", "dtype")
_QUIET = (b"parameter", b"constant", b"tuple", b"get-tuple-element", b"bitcast", b"call", b"while", b"conditional")
_ADDS_UP = ("FLOPs", "transcendentals", "bytes read", "bytes written", "time")
_NO_WORK = (b"parameter", b"constant", b"tuple", b"get-tuple-element", b"bitcast")


@dataclass(frozen=True, eq=False)
class Places:
    """Where each instruction is: its document row (-1 none), source line and name scope ("" unknown).

    `inferred` says of which the line was inferred; empty where of none.
    """

    row: npt.NDArray[np.int64]
    line: Sequence[str]
    scope: Sequence[str]
    inferred: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))


@dataclass(frozen=True, eq=False)
class Cost:
    """The work of a module."""

    ops: Module = field(repr=False)
    places: Places = field(repr=False)
    flops: Floats
    transcendentals: Floats
    bytes_read: Floats
    bytes_written: Floats
    """`flops`, `transcendentals`, `bytes_read`, `bytes_written`: per instruction and run; a fusion includes its
    members."""
    runs: Floats
    """How often each instruction runs."""
    runs_once: Floats
    loops: Executions
    shown: npt.NDArray[np.int64]
    """The instructions that are rows of `table`."""
    unknown: dict[int, str]
    """instruction -> why its FLOPs are unknown."""
    near: Floats = field(default_factory=lambda: np.zeros(0))
    """Of the bytes, those outside the device's own memory, such as on the chip; empty where there are none."""
    host: Floats = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def flops_range(self) -> WorkRange:
        """FLOPs of one run, as a range where loops, branches or unknown counts leave them open."""
        return work_ranges.work_range(self.control, self.shown, self.flops, self.places.line, self.why)

    @cached_property
    def bytes_range(self) -> WorkRange:
        """Bytes moved in one run, as a range where loops or branches leave them open."""
        return work_ranges.work_range(self.control, self.shown, self.moved, self.places.line, {})

    @cached_property
    def control(self) -> Control:
        """The loops, conditionals and calls that run the instructions."""
        return work_ranges.read(self.ops, self.loops)

    @property
    def total_flops(self) -> float:
        """Known FLOPs: a loop as often as it is known to run, else once, and the branch of most FLOPs."""
        return self.flops_range.counted

    @cached_property
    def total_once(self) -> float:
        """Known FLOPs as XLA counts: the body of every loop once, and the branch of most FLOPs."""
        own = work_ranges.own_work(self.ops, self.shown, [np.nan_to_num(self.flops)])
        return float(self.control.totals(own, work_ranges.BY_XLA)[0, self.ops.entry])

    @property
    def total_transcendentals(self) -> float:
        """Transcendentals, of a conditional those of the branch of most FLOPs."""
        return float((self.transcendentals * self.counted_runs[0])[self.shown].sum())

    @property
    def total_bytes(self) -> float:
        """Bytes: a loop as often as it is known to run, else once, and the branch of most bytes."""
        return self.bytes_range.counted

    @cached_property
    def parts(self) -> Attribution:
        """The work of each instruction of the table by the members that do it."""
        work = InstructionWork(self.flops, self.transcendentals, self.bytes_read, self.bytes_written)
        return attribution.read(self.ops, self.shown, work)

    @cached_property
    def counted_runs(self) -> tuple[Floats, Floats]:
        """How often each instruction runs in `total_flops` and in `total_bytes`: 0 in a branch that does not count."""
        own = work_ranges.own_work(self.ops, self.shown, [np.nan_to_num(self.flops), self.moved])
        share = work_ranges.counted_runs(self.control, own) / np.maximum(self.loops.times, 1)
        flops, moved = self.runs * share[:, self.ops.computation]
        return flops, moved

    @property
    def moved(self) -> Floats:
        """Bytes read and written, per instruction and run."""
        return self.bytes_read + self.bytes_written

    def total(self, figures: Floats) -> Floats:
        """Figures per instruction and run, such as `flops` and `moved`, over all runs of each instruction."""
        return figures * self.runs

    def counted(self, figures: Floats, is_bytes: bool = False) -> Floats:
        """Figures of `parts`, such as `parts.flops`, as often as they count in `total_flops`, or in `total_bytes`."""
        return figures * self.counted_runs[is_bytes][self.parts.owner]

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The instructions of `table`, the most bytes first."""
        return self.shown[np.argsort(-self.total(self.moved)[self.shown], kind="stable")]

    @cached_property
    def why(self) -> dict[int, str]:
        """For the rows of `table`: instruction -> why its FLOPs are unknown; a fusion has the reason of its member."""
        reasons = self.unknown.values()
        inside = next(iter(reasons)) if len(set(reasons)) == 1 else wording.MEMBER_UNKNOWN
        rows = self.shown[np.isnan(self.flops[self.shown])].tolist()
        return {row: self.unknown.get(row, inside) for row in rows}

    @cached_property
    def unknown_share(self) -> float:
        """The share of the bytes that instructions of unknown FLOPs move, 0 to 1."""
        moved = self.total(self.moved)
        return float(moved[list(self.why)].sum()) / (float(moved[self.shown].sum()) or 1)

    @cached_property
    def near_share(self) -> float:
        """The share of the bytes moved that stay in memory on the chip, 0 to 1."""
        if not len(self.near):
            return 0.0
        moved, near = (self.total(column)[self.shown].sum() for column in (self.moved, self.near))
        return float(near / (moved or 1))

    @cached_property
    def host_bytes(self) -> float:
        """The bytes in one run that are read from and written to the host's memory."""
        return float(self.total(self.host)[self.shown].sum()) if len(self.host) else 0.0

    @property
    def host_share(self) -> float:
        """The share of the bytes moved that are in the host's memory, 0 to 1."""
        return self.host_bytes / (float(self.total(self.moved)[self.shown].sum()) or 1)

    @cached_property
    def lists_branches(self) -> bool:
        """Whether the rows of `table` list branches of which only one runs."""
        return any(reason.branches for reason in (*self.flops_range.reasons, *self.bytes_range.reasons))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        notes = []
        if self.why:
            names = [self.ops.names[row].decode() for row in self.why]
            notes.append(wording.unknown_flops(names, len(self.shown), self.unknown_share))
        lengths = [row for row, loop in self.loops.trips.items() if loop.trips is None]
        if lengths:
            notes.append(wording.unknown_trips([self.ops.names[row].decode() for row in lengths]))
        if self.lists_branches:
            notes.append(wording.ALL_BRANCHES)
        return tuple(notes)

    @cached_property
    def table(self) -> Table:
        """One row per instruction, the most bytes first."""
        return self._table("cost", self.order)

    def inside(self, row: int) -> npt.NDArray[np.int64]:
        """The instructions inside a fusion, call or loop, in order; empty for any other instruction."""
        held = self.ops.computation[:, None] == np.array([c for c in self.ops.called[row] if c >= 0], np.int64)
        return np.flatnonzero(held.any(1) & ~np.isin(self.ops.opcode, _NO_WORK))

    def members(self, instruction: str) -> Table:
        """The instructions inside a fusion, call or loop, one row each. Raises ValueError for an unknown name.

        Inside a fusion nothing goes through memory: its members have FLOPs but no bytes.
        """
        name = instruction.removeprefix("%").encode()
        if name not in self.ops.names:
            raise ValueError(f"there is no instruction {instruction!r} in the optimised HLO")
        return self._table(f"members of {instruction}", self.inside(self.ops.names.index(name)))

    def _table(self, name: str, rows: npt.NDArray[np.int64]) -> Table:
        total, moved = self.total(self.flops)[rows], self.total(self.moved)[rows]
        columns = {
            "instruction": Column([self.ops.names[row].decode() for row in rows]),
            "opcode": Column([self.ops.opcode[row].decode() for row in rows]),
            "dtype": Column([dtype(self.ops, int(row)) for row in rows]),
            "FLOPs": Column(total, "FLOP", "floating-point operations, over all runs; a multiply-add counts as two"),
            "transcendentals": Column(self.total(self.transcendentals)[rows], "", TRANSCENDENTALS),
            "bytes read": Column(self.total(self.bytes_read)[rows], "B"),
            "bytes written": Column(self.total(self.bytes_written)[rows], "B"),
            "intensity": intensity(total, moved),
            "runs": Column(self.runs[rows], "", "times in one run of the module"),
            "line": Column([self.lines[row] for row in rows], "", "of a fusion, that of its heaviest member"),
            "row": Column(self.places.row[rows], "", "row of the HLO document"),
        }
        why = self.unknown | self.why
        reasons = {(at, "FLOPs"): why[row] for at, row in enumerate(rows.tolist()) if row in why}
        remarks = self.line_remarks(rows)
        scopes = [self.scopes[row] for row in rows.tolist()]
        notes = self.notes if name == "cost" else ()
        return Table(name, columns, reasons, notes, remarks=remarks, scopes=scopes, adds_up=_ADDS_UP)

    @cached_property
    def lines(self) -> list[str]:
        """The source line of each instruction; of a fusion in the schedule that of the member that does most."""
        return [self.places.line[row] for row in self._line_givers.tolist()]

    @cached_property
    def scopes(self) -> list[str]:
        """The name scope of each instruction; of a fusion in the schedule that of the member that gives its line."""
        return [self.places.scope[row] for row in self._line_givers.tolist()]

    def line_remarks(self, rows: npt.NDArray[np.int64]) -> Mapping[tuple[int, str], str]:
        """Of a table of these instructions, which of their lines were inferred."""
        return inferred_lines.remarks(self.places.inferred, self._line_givers[rows])

    @cached_property
    def _line_givers(self) -> npt.NDArray[np.int64]:
        return inferred_lines.givers(self.ops, self.shown, self.places.line)

    def by(self, group: str) -> Table:
        """Totals by "line", "scope", "computation", "opcode" or "dtype", the most bytes first.

        The work of a fusion counts where its members do it. FLOPs are the known ones, NaN where none are;
        "instruction" is the one that moves the most bytes.
        """
        parts, (names, place) = self.parts, self.part_keys(group)
        n, (runs, runs_of_bytes) = len(names), self.counted_runs

        def total(figures: Floats, is_bytes: bool = False) -> Floats:
            return np.bincount(place, self.counted(np.nan_to_num(figures), is_bytes), n)

        flops, reads, writes = total(parts.flops), total(parts.read, True), total(parts.written, True)
        unknown = _distinct(place, parts.owner, n, np.isnan(parts.flops))
        is_unknown = (unknown > 0) & (flops == 0)
        unseen, unseen_bytes = (_is_never(place, column[parts.owner], n) for column in (runs, runs_of_bytes))
        order = np.lexsort((-flops, -(reads + writes)))
        most = self._costliest(place, n)
        columns = {
            group: Column([name or None for name in names]),
            "FLOPs": Column(np.where(is_unknown | unseen, np.nan, flops), "FLOP", "known ones only"),
            "transcendentals": Column(np.where(unseen, np.nan, total(parts.transcendentals)), "", TRANSCENDENTALS),
            "bytes read": Column(np.where(unseen_bytes, np.nan, reads), "B"),
            "bytes written": Column(np.where(unseen_bytes, np.nan, writes), "B"),
            "instructions": Column(_distinct(place, parts.owner, n), "", "a fusion counts in each group it works for"),
            "FLOPs unknown": Column(unknown, "", "instructions whose FLOPs are unknown"),
            "instruction": Column(
                [self.ops.names[row].decode() for row in self.named_by_parts[most]], "", "moves the most bytes"
            ),
            "row": Column(self.rows_of_parts[most], "", "row of the HLO document"),
        }
        reasons = {(row, "FLOPs"): wording.UNKNOWN_FOR_ALL for row in np.flatnonzero(is_unknown).tolist()}
        reasons |= wording.not_counted(unseen, "FLOPs", "transcendentals")
        reasons |= wording.not_counted(unseen_bytes, "bytes read", "bytes written")
        reasons |= {(row, group): wording.NOT_RECORDED for row, name in enumerate(names) if not name}
        marks = dict.fromkeys([(row, group) for row in self._mostly_inferred(place, n)], wording.INFERRED)
        remarks = marks if group == "line" else {}
        table = Table(f"cost by {group}", columns, reasons, self.notes, remarks=remarks, adds_up=_ADDS_UP)
        return table.take(order.tolist())

    def is_inferred(self, line: str) -> bool:
        """Whether most of the bytes that a line moves are of instructions whose line was inferred."""
        names, place = self.part_keys("line")
        return line in names and names.index(line) in self._mostly_inferred(place, len(names))

    def _mostly_inferred(self, place: npt.NDArray[np.int64], n: int) -> list[int]:
        """The groups most of whose bytes are of instructions whose line was inferred."""
        if not len(self.places.inferred):
            return []
        moved = self.parts.moved * self.runs[self.parts.owner]
        return inferred_lines.mostly(self.places.inferred[self.named_by_parts], place, moved, n)

    def part_keys(self, group: str) -> tuple[list[str], npt.NDArray[np.int64]]:
        """The names of a group's members, "" unknown, and for each of `parts` which one it belongs to.

        It is the member's own, or the fusion's where that of the member is unknown.
        """
        owners = self.keys(group, self.parts.owner)
        members = owners if group == "computation" else self.keys(group, self.parts.member)
        return numbered([member or owner for member, owner in zip(members, owners, strict=True)])

    def shares_by_line(self, rows: Any, values: Floats, bounds: Sequence[Ceiling]) -> tuple[list[str], Floats]:
        """The source line of each of `parts`, and its share of the figures of these rows, such as their time."""
        names, place = self.part_keys("line")
        by_flops = np.array([bound is Ceiling.COMPUTE for bound in bounds], bool)
        return [names[at] for at in place.tolist()], self.parts.shares(rows, np.nan_to_num(values), by_flops)

    @property
    def rows_of_parts(self) -> npt.NDArray[np.int64]:
        """Where each of `parts` stands in the HLO document, -1 none."""
        return self.places.row[self.named_by_parts]

    @cached_property
    def named_by_parts(self) -> npt.NDArray[np.int64]:
        """The instruction that shows each of `parts`: its member, or the fusion where that has no row or no line."""
        line, parts = self.places.line, self.parts
        has_line = np.array([bool(line[member]) for member in parts.member.tolist()], bool)
        return np.where(has_line & (self.places.row[parts.member] >= 0), parts.member, parts.owner)

    def _costliest(self, place: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
        """Per group, the part that moves the most bytes, preferably one with a row."""
        order = np.lexsort((self.parts.moved * self.runs[self.parts.owner], self.rows_of_parts >= 0))
        most = np.zeros(n, np.int64)
        most[place[order]] = order
        return most

    def keys(self, group: str, rows: Any) -> list[str]:
        """The member of a group that each of `rows` belongs to, "" unknown."""
        if group not in GROUPS:
            raise ValueError(f"unknown group {group!r}; choose one of {', '.join(GROUPS)}")
        if group == "line":
            return [self.places.line[row] for row in rows]
        if group == "scope":
            return [self.places.scope[row] for row in rows]
        if group == "computation":
            return [self.ops.computations[c] for c in self.ops.computation[rows]]
        if group == "opcode":
            return [self.ops.opcode[row].decode() for row in rows]
        return [dtype(self.ops, int(row)) for row in rows]

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        return self.table.to_json(**rows)


def _is_never(place: Any, runs: Floats, n: int) -> npt.NDArray[np.bool_]:
    """Which groups have no part that runs."""
    return np.asarray(np.bincount(place, runs, n) == 0)


def _distinct(place: Any, owner: Any, n: int, which: Any = slice(None)) -> npt.NDArray[np.int64]:
    """How many owners the parts of each group have."""
    pairs = np.unique(np.stack([place[which], owner[which]]), axis=1)
    return np.bincount(pairs[0], minlength=n)


def read(ops: Module, places: Places, kernels: Mapping[int, Counted] | None = None) -> Cost:
    """The cost of a module; `kernels` has the work of its custom calls that is known from elsewhere."""
    counted, loops = flops.count(ops, kernels), executions.count(ops)
    own, transcendentals = counted.flops.copy(), counted.transcendentals.copy()
    for rows in fusions(ops):
        for column in (own, transcendentals):
            inside = np.bincount(ops.computation, column, len(ops.computations))
            column[rows] = inside[ops.called.at(0)[rows]]
    moved = traffic.count(ops)
    fused = np.isin(ops.computation, ops.called.at(0)[ops.rows(b"fusion")])
    shown = np.flatnonzero(~fused & ~np.isin(ops.opcode, _QUIET) & (loops.once[ops.computation] > 0))
    times, once = loops.times[ops.computation], loops.once[ops.computation]
    return Cost(
        ops, places, own, transcendentals, moved.read, moved.written, times, once, loops, shown, counted.unknown,
        moved.near, moved.host,
    )  # fmt: skip


def fusions(ops: Module) -> list[npt.NDArray[np.int64]]:
    """Fusions, innermost first, so that an inner one is summed before the outer one."""
    rows = ops.rows(b"fusion")
    rows = rows[ops.called.at(0)[rows] >= 0]
    holder = np.full(len(ops.computations), -1, np.int64)
    holder[ops.called.at(0)[rows]] = rows
    depth, outer = np.zeros(len(rows), np.int64), holder[ops.computation[rows]]
    for _ in range(len(rows)):
        if not (inside := outer >= 0).any():
            break
        depth[inside] += 1
        outer = np.where(inside, holder[ops.computation[outer]], -1)
    return [rows[depth == level] for level in np.unique(depth)[::-1]]


def dtype(ops: Module, row: int) -> str:
    """The element type of the result; "tuple" for any tuple."""
    kind = int(ops.shapes.element_type[row])
    return TYPES[kind][0] if kind in TYPES else "tuple"
