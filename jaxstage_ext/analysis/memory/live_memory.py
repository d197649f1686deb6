"""Memory over the schedule: how much lives when, and what lives at the worst moment.

Live bytes are those of buffers with data somebody still needs. A device must hold more: XLA takes all temporary memory
as one piece for as long as the program runs, with gaps between buffers ("reserved").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.memory import entry_values, live_ranges, residual_tables
from jaxstage_ext.analysis.memory import fit as memory_fit
from jaxstage_ext.analysis.memory.buffers import ARGUMENT, KINDS, OUTPUT, RESIDUAL, Laid
from jaxstage_ext.analysis.memory.entry_values import Entry
from jaxstage_ext.analysis.memory.fit import Device, Fit
from jaxstage_ext.analysis.memory.residual_tables import Kept
from jaxstage_ext.ir.hlo import parts
from jaxstage_ext.ir.hlo.buffer_assignment import Assignment
from jaxstage_ext.ir.protowire import Longs
from jaxstage_ext.report.table import Column, Table, scaled

DEFAULT = 0
_HOST = {5: "host memory"}
_SPACES = {
    "cpu": {0: "memory"},
    "tpu": {0: "HBM", 1: "VMEM", 2: "SMEM", **_HOST},
    "cuda": {0: "GPU memory", 1: "collective memory", **_HOST},
}
"""XLA's colours in words; one without a name is "space N"."""
_HANDING = (b"parameter", b"tuple", b"get-tuple-element", b"bitcast", b"while", b"conditional", b"call", b"copy-done")


@dataclass(frozen=True, eq=False)
class Space:
    """One memory of the device.

    Attributes:
      held: bytes that live throughout: arguments, results, constants.    reserved: all that is allocated.
      local: bytes on threads' stacks or in registers, in none of the other figures.
      position: of the schedule, where most lives; `peak` bytes then.
    """

    color: int
    name: str
    held: int
    reserved: int
    local: int
    position: int
    peak: int


@dataclass(frozen=True, eq=False)
class Memory:
    """A module's memory on one device.

    Attributes:
      spaces: the device's own memory first.      stats: what XLA's executable says of itself; empty for none.
      error: XLA's, where the compile failed.     entry: names of arguments and results, where they are known.
    """

    laid: Laid = field(repr=False)
    places: Places = field(repr=False)
    platform: str
    device: Device
    spaces: tuple[Space, ...]
    stats: Mapping[str, int]
    entry: Entry | None = field(repr=False)
    error: str | None = None
    notes: tuple[str, ...] = ()
    kept: Callable[[Any], Sequence[Kept]] | None = field(default=None, repr=False)

    def space(self, name: str | int = DEFAULT) -> Space:
        """By name or colour. Raises ValueError, naming those that there are."""
        for space in self.spaces:
            if name in (space.name, space.color):
                return space
        raise ValueError(f"{name!r} is no memory of this program; there is {', '.join(s.name for s in self.spaces)}")

    def curve(self, space: str | int = DEFAULT) -> Longs:
        """Live bytes at each position of the schedule."""
        return _curve(self.laid, self.space(space).color)

    def timeline(self, space: str | int = DEFAULT) -> Table:
        """Live bytes, one row a position at which they change."""
        curve = self.curve(space)
        at = np.flatnonzero(np.diff(curve, prepend=-1)) if len(curve) else np.zeros(0, np.int64)
        rows = self.laid.schedule.order[at]
        columns = {
            "position": Column(at, "", "in the schedule"),
            "live": Column(curve[at], "B", "bytes that live while the instruction runs"),
            **self._where(rows),
        }
        return Table("timeline", columns)

    def _where(self, rows: Longs) -> dict[str, Column]:
        names, known = self.laid.ops.names, np.maximum(rows, 0)
        return {
            "instruction": Column([names[r].decode() if r >= 0 else "" for r in rows.tolist()]),
            "line": Column([self.places.line[r] if r >= 0 else "" for r in rows.tolist()]),
            "row": Column(np.where(rows >= 0, self.places.row[known], -1), "", "row of the HLO document"),
        }

    @cached_property
    def peak_set(self) -> Table:
        """What lives in the device's own memory at its worst moment, the largest first."""
        return self.peak()

    def peak(self, space: str | int = DEFAULT) -> Table:
        """What lives in a memory at its worst moment, the largest first."""
        found = self.space(space)
        return self.at(found.position, found.color)

    def at(self, position: int, space: str | int = DEFAULT) -> Table:
        """What lives in a memory while the instruction at a position runs, the largest first."""
        color = self.space(space).color
        return self._listed(self.laid.buffers.at(position, color), position, f"live at {position}")

    @cached_property
    def buffers(self) -> Table:
        """All buffers, in the order of `laid.buffers`."""
        return self._listed(np.arange(len(self.laid.buffers)), None, "buffers")

    def _listed(self, rows: Longs, position: int | None, name: str) -> Table:
        found = self.laid.buffers
        values = np.array([self._holds(int(row), position) for row in rows], np.int64)
        made = np.where(values >= 0, self.laid.row[values], -1) if len(rows) else values
        colors = {space.color: space.name for space in self.spaces}
        columns = {
            "buffer": Column([self.title(int(v)) for v in values]),
            "size": Column(found.size[rows], "B", "bytes that it takes"),
            "padding": Column((found.size - found.used)[rows], "B", "of these, bytes that hold no data"),
            "shape": Column([parts.text(self.laid.shapes, int(v)) if v >= 0 else "" for v in values]),
            "kind": Column([KINDS[kind] for kind in found.kind[rows]]),
            "why": Column([self.why(int(row)) for row in rows]),
            "from": Column(found.start[rows], "", "position in the schedule"),
            "to": Column(found.end[rows], "", "position of its last reader"),
            "memory": Column([colors[color] for color in found.space[rows].tolist()]),
            **self._where(made),
        }
        del columns["instruction"]
        return Table(name, columns)

    def _holds(self, row: int, position: int | None) -> int:
        """The value that a buffer is named after: of several that share it, the one that is in it then."""
        first = self.laid.first_life
        if row < first or position is None:
            return int(self.laid.buffers.value[row])
        found = self.laid.lives
        begin, end = np.searchsorted(found.member_of, [row - first, row - first + 1])
        chosen = int(found.value[row - first])
        for place in range(int(begin), int(end)):
            value = int(found.member[place])
            made = int(self.laid.row[value])
            if found.since[place] <= position and made >= 0 and self.laid.ops.opcode[made] not in _HANDING:
                chosen = value
        return chosen

    def title(self, value: int) -> str:
        """A value's name: that of its instruction, with its part as XLA writes it."""
        made = int(self.laid.row[value]) if value >= 0 else -1
        index = self.laid.assignment.values.index[value] if value >= 0 else []
        name = self.laid.ops.names[made].decode() if made >= 0 else "unknown"
        return name + (f"{{{','.join(map(str, index))}}}" if index else "")

    def why(self, row: int) -> str:
        """Why a buffer lives, in a few words."""
        found, kind = self.laid.buffers, int(self.laid.buffers.kind[row])
        if kind == ARGUMENT:
            name = self.entry.parameter(found, row) if self.entry else f"parameter {int(found.parameter[row])}"
            return f"{name}, donated" if found.output[row] else name
        if kind == OUTPUT:
            return ", ".join(self._results_in.get(int(found.allocation[row]), ())) or "result"
        if row < self.laid.first_life:
            return KINDS[kind] if found.traced[row] else "XLA tells nothing of its life"
        last = self.laid.schedule.order[int(found.end[row])]
        reader = self.laid.ops.names[last].decode()
        return f"saved for the backward pass, until {reader}" if kind == RESIDUAL else f"until {reader}"

    @cached_property
    def _results_in(self) -> dict[int, list[str]]:
        return entry_values.results_in(self.laid, self.entry)

    @cached_property
    def arguments(self) -> Table:
        """The function's arguments: bytes, donated or not, what became of that, unused and pruned ones."""
        return entry_values.arguments(self.laid, self.entry)

    @cached_property
    def results(self) -> Table:
        """The function's results: bytes, and in whose memory each lies."""
        return entry_values.results(self.laid, self.entry)

    @cached_property
    def constants(self) -> Table:
        """Arrays that the program closes over, the largest first, with the Python names they came from."""
        return entry_values.constants(self.laid, self.entry)

    @cached_property
    def fit(self) -> Fit:
        """Whether the device has room for it."""
        return memory_fit.fit(self)

    @cached_property
    def advice(self) -> Table:
        """What could be changed, with the bytes that it concerns, the most first."""
        return memory_fit.advice(self)

    @cached_property
    def checks(self) -> Table:
        """These figures beside XLA's own, and why they differ where they do."""
        return memory_fit.checks(self)

    @property
    def simulated(self) -> int:
        """The largest peak of one heap simulation, as XLA adds it up."""
        return max((peak for peak in live_ranges.simulated(self.laid.assignment)), default=0)

    def residuals(self, policy: Any = None) -> Table:
        """What the backward pass keeps of the forward pass, by the jaxpr: arrays with their lines, largest first.

        Args:
          policy: what would `jax.checkpoint` with it keep? A name out of `jax.checkpoint_policies`, or a policy.

        Raises ValueError for a policy that does not exist, and where nothing is differentiated.
        """
        if self.kept is None:
            raise ValueError("what the backward pass keeps is unknown: the function was not traced here")
        return residual_tables.table(self.kept(policy))

    def policies(self, names: Sequence[str] = residual_tables.POLICIES) -> Table:
        """What `jax.checkpoint` around everything that is differentiated would keep, policy by policy."""
        return residual_tables.compared({name: self.residuals(name or None) for name in ("", *names)})

    def to_pandas(self) -> Any:
        """The peak set as a pandas.DataFrame."""
        return self.peak_set.to_pandas()

    def to_json(self) -> str:
        """Peak set, arguments, results, constants, advice and checks as versioned JSON."""
        tables = (self.peak_set, self.arguments, self.results, self.constants, self.advice, self.checks)
        names = ("peak", "arguments", "results", "constants", "advice", "checks")
        return json.dumps({name: json.loads(table.to_json()) for name, table in zip(names, tables, strict=True)})

    def __str__(self) -> str:
        heads = [self.fit.text, *(self._headline(space) for space in self.spaces if space.reserved)]
        return "\n".join([*heads, "", str(self.peak_set), *self._told()])

    __repr__ = __str__

    def _headline(self, space: Space) -> str:
        at = self.laid.schedule.order[space.position : space.position + 1]
        moment = f" while {self.laid.ops.names[at[0]].decode()} runs" if len(at) else ""
        return f"{space.name}: {scaled(space.reserved, 'B')} reserved; {scaled(space.peak, 'B')} live{moment}"

    def _told(self) -> list[str]:
        advice = [f"{row['what']}: {scaled(row['bytes'], 'B')}. {row['how']}" for row in self.advice.rows()]
        differ = [row["note"] for row in self.checks.rows() if row["note"]]
        return [*advice, *differ, *self.notes]


def read(
    laid: Laid, places: Places, platform: str, device: Device, stats: Mapping[str, int], entry: Entry | None,
    error: str | None = None, notes: tuple[str, ...] = (), kept: Callable[[Any], Sequence[Kept]] | None = None,
) -> Memory:  # fmt: skip
    """The memory of a module; `platform` is "cpu", "tpu" or "cuda"."""
    allocations = laid.assignment.allocations
    colors = sorted({DEFAULT, *np.unique(allocations.color).tolist()})
    spaces = tuple(_space(laid, laid.assignment, color, _SPACES.get(platform, {})) for color in colors)
    return Memory(laid, places, platform, device, spaces, stats, entry, error, notes, kept)


def _space(laid: Laid, assignment: Assignment, color: int, names: Mapping[int, str]) -> Space:
    found = assignment.allocations
    mine = found.color == color
    curve = _curve(laid, color)
    position = int(np.argmax(curve)) if len(curve) else 0
    held = int(found.size[mine & found.held & ~found.local].sum())
    return Space(
        color,
        names.get(color, f"space {color}"),
        held,
        int(found.size[mine & ~found.local].sum()),
        int(found.size[mine & found.local].sum()),
        position,
        int(curve[position]) if len(curve) else held,
    )


def _curve(laid: Laid, color: int) -> Longs:
    found, n = laid.buffers, len(laid.schedule)
    change = np.zeros(n + 1, np.int64)
    mine = found.space == color
    np.add.at(change, found.start[mine], found.size[mine])
    np.add.at(change, found.end[mine] + 1, -found.size[mine])
    return np.cumsum(change)[:n]
