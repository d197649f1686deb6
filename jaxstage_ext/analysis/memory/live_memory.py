"""Memory over the schedule: how many bytes are live when, and which buffers are live at the peak.

A buffer is live while something still needs its data. The device must reserve more: XLA takes all temporary memory as
one piece for the whole run, gaps between buffers included.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.memory import (
    contents,
    embedded_constants,
    entry_values,
    live_ranges,
    memory_advice,
    memory_checks,
    memory_tables,
    program_trials,
    spaces,
)
from jaxstage_ext.analysis.memory import fit as memory_fit
from jaxstage_ext.analysis.memory import memory_wording as wording
from jaxstage_ext.analysis.memory.buffers import Kind, ScheduledBuffers
from jaxstage_ext.analysis.memory.entry_values import ArgumentMemory, EntryComputation, KeptConstant, ResultMemory
from jaxstage_ext.analysis.memory.fit import DeviceMemory, Fit
from jaxstage_ext.analysis.memory.memory_advice import MemoryAdvice, Suggestion
from jaxstage_ext.analysis.memory.memory_checks import Check, CheckDifference
from jaxstage_ext.analysis.memory.memory_tables import Kept
from jaxstage_ext.analysis.memory.origins import Origins
from jaxstage_ext.analysis.memory.program_trials import DonationTrial, PolicyTrial
from jaxstage_ext.analysis.memory.spaces import DEFAULT, Space
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.unavailable import Unavailable


@dataclass(frozen=True, eq=False)
class Memory:
    """A module's memory on one device."""

    scheduled: ScheduledBuffers = field(repr=False)
    places: Places = field(repr=False)
    platform: str
    device: DeviceMemory
    spaces: tuple[Space, ...]
    """The device's own memory first."""
    stats: Mapping[str, int]
    """XLA's figures of its executable; empty where it gives none."""
    entry: EntryComputation | None = field(repr=False)
    """Names of arguments and results, where known."""
    error: str | None = None
    """What XLA raised, where the compile failed."""
    notes: tuple[str, ...] = ()
    kept: Callable[[Any], Sequence[Kept]] | None = field(default=None, repr=False)
    """Gives the residuals under a policy."""
    allocated: int | None = None
    """What the executable takes of the device's own memory, where XLA says so."""
    trial: Callable[[Any, Memory, Progress | None], PolicyTrial] | None = field(default=None, repr=False)
    """Compiles the program under a policy."""
    donate: Callable[[tuple[str, ...], Memory, Progress | None], DonationTrial] | None = field(default=None, repr=False)
    """Compiles the program with arguments donated."""
    _trials: dict[Any, PolicyTrial] = field(default_factory=dict, repr=False)
    _donations: dict[tuple[str, ...], DonationTrial] = field(default_factory=dict, repr=False)

    def space(self, name: str | int = DEFAULT) -> Space:
        """A memory by name or XLA's color. Raises ValueError, listing the memories of this program."""
        for space in self.spaces:
            if name in (space.name, space.color):
                return space
        listed = ", ".join(space.name for space in self.spaces)
        raise ValueError(f"this program has no memory {name!r}; it has {listed}")

    def curve(self, space: str | int = DEFAULT) -> Longs:
        """Live bytes at each position of the schedule."""
        return spaces.curve(self.scheduled, self.space(space).color)

    def timeline(self, space: str | int = DEFAULT) -> Table:
        """Live bytes, one row per position at which they change."""
        curve = self.curve(space)
        at = np.flatnonzero(np.diff(curve, prepend=-1)) if len(curve) else np.zeros(0, np.int64)
        rows = self.scheduled.schedule.order[at]
        columns = {
            "position": Column(at, "", "in the schedule"),
            "live": Column(curve[at], "B", "bytes that are live while the instruction runs"),
            **self._where(rows),
        }
        return Table("timeline", columns)

    def _where(self, rows: Longs) -> dict[str, Column]:
        names, known = self.scheduled.ops.names, np.maximum(rows, 0)
        return {
            "instruction": Column([names[r].decode() if r >= 0 else "" for r in rows.tolist()]),
            "line": Column([self.places.line[r] if r >= 0 else "" for r in rows.tolist()]),
            "row": Column(np.where(rows >= 0, self.places.row[known], -1), "", "row of the HLO document"),
        }

    @cached_property
    def peak_set(self) -> Table:
        """The buffers that are live in the device's own memory at its peak, the largest first."""
        return self.peak()

    def peak(self, space: str | int = DEFAULT) -> Table:
        """The buffers that are live in a memory at its peak, the largest first."""
        chosen = self.space(space)
        return self.at(chosen.position, chosen.color)

    def at(self, position: int, space: str | int = DEFAULT) -> Table:
        """The buffers that are live in a memory while the instruction at a position runs, the largest first."""
        color = self.space(space).color
        return self._listed(self.scheduled.buffers.at(position, color), position, f"live at {position}")

    @cached_property
    def buffers(self) -> Table:
        """All buffers, in the order of `scheduled.buffers`."""
        return self._listed(np.arange(len(self.scheduled.buffers)), None, "buffers")

    def _listed(self, rows: Longs, position: int | None, name: str) -> Table:
        buffers = self.scheduled.buffers
        values = contents.values(self.scheduled, rows, position)
        lines, places = self._belonging(rows, values)
        titles = [self._held(row, value) for row, value in zip(rows.tolist(), values.tolist(), strict=True)]
        columns = {
            "buffer": Column(titles),
            "size": Column(buffers.size[rows], "B", "bytes that it takes"),
            "padding": Column((buffers.size - buffers.used)[rows], "B", "of these, bytes without data"),
            "shape": Column([contents.shape(self.scheduled, value) for value in values.tolist()]),
            "kind": Column([Kind(kind).title for kind in buffers.kind[rows].tolist()]),
            "why": Column([self.why(int(row)) for row in rows]),
            "from": Column(buffers.start[rows], "", "position in the schedule"),
            "to": Column(buffers.end[rows], "", "position of its last reader"),
            "memory": Column([self._memories[color] for color in buffers.space[rows].tolist()]),
            "line": Column(lines, "", "where what it holds is computed; in a loop, the line of its body"),
            "row": Column(places, "", "row of the HLO document"),
        }
        return Table(name, columns, adds_up=() if position is None else ("size", "padding"))

    def _named(self, value: int) -> str | None:
        """What a value is called: an argument by its path."""
        rows = np.flatnonzero(self.scheduled.buffers.value == value)
        return self._held(int(rows[0]), value) if len(rows) else contents.title(self.scheduled, value)

    def _held(self, row: int, value: int) -> str | None:
        """An argument by its path, anything else by its instruction."""
        return ", ".join(self.names(row)) if self.is_given(row) else contents.title(self.scheduled, value)

    def lines(self, rows: Longs, position: int | None) -> tuple[list[str], Longs]:
        """(source line, row of the HLO document) that each buffer belongs to; "" and -1 where none is known.

        That of the value in it at `position`. What a loop stacks belongs to the line of the body that computes it.
        """
        return self._belonging(rows, contents.values(self.scheduled, rows, position))

    def _belonging(self, rows: Longs, values: Longs) -> tuple[list[str], Longs]:
        made = self.scheduled.row[values] if len(values) else values
        made = np.where(values >= 0, made, -1)
        pairs = zip(rows.tolist(), values.tolist(), strict=True)
        origin = np.array([self._origin(row, value) for row, value in pairs], np.int64)
        lines = [self.places.line[row] if row >= 0 else "" for row in origin.tolist()]
        return lines, contents.first_known(self.places.row, origin, made)

    def _origin(self, buffer: int, value: int) -> int:
        """The instruction that computes the value in a buffer; of a loop's, also where it is named after the start."""
        maker = int(self.scheduled.row[value]) if value >= 0 else -1
        index = self.scheduled.assignment.values.index
        origin = self._origins.of(maker, index[value]) if maker >= 0 else -1
        loop = contents.carried(self.scheduled, buffer) if origin == maker else -1
        if loop < 0:
            return origin
        around = int(self.scheduled.row[loop])
        inside = self._origins.of(around, index[loop])
        return origin if inside == around else inside

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self.scheduled.ops, self.places)

    def title(self, value: int) -> str:
        """A value's name: its instruction's, with its tuple index as XLA writes it."""
        return contents.title(self.scheduled, value) or "unknown"

    def names(self, row: int) -> list[str]:
        """The arguments or results that a buffer holds; empty for temporary memory."""
        buffers = self.scheduled.buffers
        if buffers.kind[row] == Kind.ARGUMENT:
            return [self.entry.parameter(buffers, row) if self.entry else f"parameter {int(buffers.parameter[row])}"]
        return self._results_in.get(int(buffers.allocation[row]), []) if buffers.kind[row] == Kind.OUTPUT else []

    def is_given(self, row: int) -> bool:
        """Whether a buffer holds an argument whose path is known; a token is none."""
        buffers = self.scheduled.buffers
        number = int(buffers.parameter[row]) if buffers.kind[row] == Kind.ARGUMENT else -1
        return self.entry is not None and self.entry.of_parameter(number) is not None

    def why(self, row: int) -> str:
        """Why a buffer is live, in a few words."""
        buffers = self.scheduled.buffers
        reader = None
        if row >= self.scheduled.first_life:
            reader = self.scheduled.ops.names[self.scheduled.schedule.order[int(buffers.end[row])]].decode()
        kind, traced = Kind(buffers.kind[row]), bool(buffers.traced[row])
        donated = bool(buffers.output[row]) and bool(buffers.size[row])
        names = [wording.GIVEN] if self.is_given(row) else self.names(row)
        return wording.why_live(kind, names, donated, traced, reader)

    @cached_property
    def _results_in(self) -> dict[int, list[str]]:
        return entry_values.results_in(self.scheduled, self.entry)

    @cached_property
    def _arguments(self) -> list[ArgumentMemory]:
        return entry_values.arguments(self.scheduled, self.entry)

    @cached_property
    def _results(self) -> list[ResultMemory]:
        return entry_values.results(self.scheduled, self.entry)

    @cached_property
    def _constants(self) -> list[KeptConstant]:
        return entry_values.constants(self.scheduled, self.entry)

    @cached_property
    def arguments(self) -> Table:
        """The function's arguments: bytes, and whether each was donated, used or pruned."""
        return memory_tables.arguments(self._arguments, self._memories)

    @cached_property
    def results(self) -> Table:
        """The function's results: bytes, and the argument whose memory each reuses."""
        return memory_tables.results(self._results, self._memories)

    @property
    def _memories(self) -> dict[int, str]:
        return {space.color: space.name for space in self.spaces}

    @cached_property
    def constants(self) -> Table:
        """Arrays that the program closes over, the largest first, with their Python names."""
        return memory_tables.constants(self._constants)

    @cached_property
    def fit(self) -> Fit:
        """Whether the program fits on its device."""
        replayed = memory_fit.replayed(self.space(), self.stats, self.platform)
        needed = replayed if self.allocated is None else self.allocated
        fit = memory_fit.read(needed, self.device, self.platform, self.error)
        return replace(fit, text=wording.fit(fit, self.device))

    @cached_property
    def suggestions(self) -> list[MemoryAdvice]:
        """What could be changed, the most bytes first."""
        space = self.space()
        every = [
            *memory_advice.residuals(self.scheduled, self.lines, space),
            *memory_advice.donation(self._arguments, self._results),
            *memory_advice.padding(self.scheduled, self.lines, space),
            *memory_advice.gaps(space),
            *memory_advice.constants(self._constants),
        ]
        return memory_advice.worth_giving(every, space)

    @property
    def advice(self) -> Table:
        """What could be changed, with the bytes that it concerns; what a change does where it was compiled."""
        return memory_tables.advice(self.suggestions, self._how)

    @property
    def untried_donation(self) -> tuple[str, ...]:
        """The arguments that a suggestion names and whose donation can be compiled and was not yet."""
        items = (item for item in self.suggestions if item.kind is Suggestion.NOT_DONATED)
        item = next(items, None) if self.donate is not None else None
        return () if item is None or self._tried(item) is not None else item.names

    def _tried(self, item: MemoryAdvice) -> DonationTrial | None:
        """The trial of a suggested donation, by the leaves or as its advice is pasted."""
        return self._donations.get(item.names) or self._donations.get(item.asked)

    def _how(self, item: MemoryAdvice) -> str:
        """What is known of one suggestion: what its trials gave, where it was tried."""
        if item.kind is Suggestion.NOT_DONATED and (tried := self._tried(item)) is not None:
            return str(tried)
        tries = [trial for trial in self._trials.values() if trial.written is not None]
        if item.kind is Suggestion.RESIDUALS and tries:
            return program_trials.best(tries)
        return wording.advice(item, self.scheduled, self._named, self.donate is not None)

    def with_donation(self, *names: str, progress: Progress | None = None) -> DonationTrial:
        """The program compiled with arguments donated: what it needs and moves, beside the program as written.

        Args:
          names: parameters of the function, or paths such as "params['w']"; none for the program as written.
          progress: is told how far the compile is; what it raises ends it.

        Raises:
          ValueError: for a name that no argument has.
          Unavailable: where the program was not staged here.
        """
        if self.donate is None:
            raise Unavailable(wording.NO_TRIALS)
        if names not in self._donations:
            written = self.with_donation() if names else None
            self._donations[names] = replace(self.donate(names, self, progress), written=written)
        return self._donations[names]

    @cached_property
    def _checks(self) -> list[Check]:
        embedded = embedded_constants.size(self.scheduled.ops, self.platform)
        return memory_checks.read(self.spaces, self.stats, self.platform, self.simulated, embedded)

    @cached_property
    def checks(self) -> Table:
        """These figures beside XLA's own, and why they differ where they do."""
        return memory_tables.checks(self._checks)

    @property
    def differing(self) -> int:
        """How many of these figures differ from XLA's own."""
        return sum(check.difference is not CheckDifference.NONE for check in self._checks)

    @property
    def simulated(self) -> int:
        """The largest peak of one heap simulation, as XLA adds it up."""
        return max(live_ranges.simulated(self.scheduled.assignment), default=0)

    def residual_arrays(self, policy: Any = None) -> Sequence[Kept]:
        """The arrays that the backward pass keeps of the forward pass. Raises as `residuals`."""
        if self.kept is None:
            raise ValueError(wording.NOT_TRACED)
        return self.kept(policy)

    def residuals(self, policy: Any = None) -> Table:
        """What the backward pass keeps of the forward pass, by the jaxpr: arrays with their lines, largest first.

        Args:
          policy: a policy of `jax.checkpoint`, or its name in `jax.checkpoint_policies`: what it would keep.

        Raises ValueError for a policy that does not exist, and where nothing is differentiated.
        """
        return memory_tables.table(self.residual_arrays(policy))

    def policies(self, names: Sequence[str] = memory_tables.POLICIES) -> Table:
        """The residuals under `jax.checkpoint` around everything that is differentiated, policy by policy.

        Beside them stand the peak and the FLOPs of the program as written, and of each policy that was compiled.
        """
        kept = {name: self.residual_arrays(name or None) for name in ("", *names)}
        if self.trial is not None:
            self.with_policy(None)
        return program_trials.compared(kept, {name: self._trials[name] for name in kept if name in self._trials})

    def with_policy(self, policy: Any, progress: Progress | None = None) -> PolicyTrial:
        """The program compiled with `jax.checkpoint` and a policy around everything that is differentiated.

        Args:
          policy: a policy of `jax.checkpoint`, or its name in `jax.checkpoint_policies`; None for the program as
            written.
          progress: is told how far the compile is; what it raises ends it.

        Raises:
          ValueError: for a policy that does not exist.
          Unavailable: where nothing is differentiated, or `jax.checkpoint` cannot be put around it, with the reason.
        """
        if self.trial is None:
            raise Unavailable(wording.NO_TRIALS)
        key = policy or ""
        if key not in self._trials:
            written = self.with_policy(None) if policy else None
            self._trials[key] = replace(self.trial(policy, self, progress), written=written)
        return self._trials[key]

    def to_pandas(self) -> Any:
        """The peak set as a pandas.DataFrame."""
        return self.peak_set.to_pandas()

    def to_json(self) -> str:
        """Peak set, arguments, results, constants, advice and checks as versioned JSON."""
        tables = (self.peak_set, self.arguments, self.results, self.constants, self.advice, self.checks)
        names = ("peak", "arguments", "results", "constants", "advice", "checks")
        return json.dumps({name: json.loads(table.to_json()) for name, table in zip(names, tables, strict=True)})

    def _parts(self) -> list[Part]:
        heads = [self.fit.text, *(self._headline(space) for space in self.spaces if space.reserved)]
        return [*heads, "", self.peak_set, *self._remarks()]

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self._parts())

    def _headline(self, space: Space) -> str:
        at = self.scheduled.schedule.order[space.position : space.position + 1]
        return wording.moment(space, self.scheduled.ops.names[at[0]].decode() if len(at) else "")

    def _remarks(self) -> list[str]:
        advice = [f"{row['what']}: {scaled(row['bytes'], 'B')}. {row['how']}" for row in self.advice.rows()]
        return [*advice, *filter(None, map(wording.check, self._checks)), *self.notes]
