"""Which process begins the collectives last, and how long the others wait for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from jaxstage_ext.profiling.analysis import clock_wording
from jaxstage_ext.profiling.analysis.latest_process import LatestProcess
from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.common_clock.exchanges import (
    CommonExchange,
    Instruction,
    ProcessExchanges,
    common_exchanges,
)
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.report.recording import NONE, SECOND, HostClocks, Recording
from jaxstage_ext.report.table import Column, Place, Table

Key = TypeVar("Key")


@dataclass(frozen=True)
class WaitedFor:
    """One collective that all processes took part in.

    Attributes:
      op: index into `Recording.ops`, of a process whose profile has its line where one has.
      last: the process that began it last; NONE where the clocks do not tell.
      seconds: from the first process that began it to the last.
    """

    instruction: Instruction
    op: int
    last: int
    seconds: float


@dataclass(frozen=True)
class CollectiveWaits:
    """The collectives of all processes in the order of time; lines by index into `Recording.ops`."""

    waits: tuple[WaitedFor, ...]
    lines: tuple[str | None, ...]

    def latest(self) -> LatestProcess | None:
        """The process for which the others wait the most; None where no process is known to be the last."""
        known = [one for one in self.waits if one.last != NONE]
        if not known:
            return None
        process, seconds = _most(known, lambda one: one.last)
        own = [one for one in known if one.last == process]
        instruction, _ = _most(own, lambda one: one.instruction)
        there = [one for one in own if one.instruction == instruction]
        return LatestProcess(
            process,
            len(own),
            len(self.waits),
            seconds,
            instruction[1],
            self.lines[there[0].op] or "",
            float(np.median([one.seconds for one in there])),
        )

    def table(self) -> Table:
        """One row a collective instruction, that for which processes wait longest first."""
        grouped: dict[Instruction, list[WaitedFor]] = {}
        for one in self.waits:
            grouped.setdefault(one.instruction, []).append(one)
        rows = sorted(grouped.items(), key=lambda pair: -sum(one.seconds for one in pair[1]))
        return _table(rows, self.lines)


def collective_waits(recording: Recording, places: OpPlaces) -> CollectiveWaits:
    """The collectives of all processes; none of a single profile, or where the clocks of processes are apart."""
    if recording.clocks in (None, HostClocks.OWN):
        return CollectiveWaits((), ())
    lines, labels = line_labels(places)
    named = tuple(None if line == NONE else labels[line] for line in lines.tolist())
    processes = [ProcessExchanges(recording, host) for host in range(len(recording.hosts))]
    is_one = recording.clocks is HostClocks.ONE_MACHINE
    unsure = 0 if is_one else max((skew.uncertainty for skew in recording.skews), default=0)
    return CollectiveWaits(tuple(_waited(one, unsure, named) for one in common_exchanges(processes, is_one)), named)


def _waited(one: CommonExchange, unsure: int, lines: Sequence[str | None]) -> WaitedFor:
    begins = [each.begin for each in one.of]
    *others, latest = sorted(begins)
    last = begins.index(latest) if latest - others[-1] > unsure else NONE
    op = next((each.op for each in one.of if lines[each.op] is not None), one.of[0].op)
    return WaitedFor(one.instruction, op, last, (latest - others[0]) / SECOND)


def _most(waits: Sequence[WaitedFor], of: Callable[[WaitedFor], Key]) -> tuple[Key, float]:
    """The key of which the waits take the most time, and that time."""
    seconds: dict[Key, float] = {}
    for one in waits:
        seconds[of(one)] = seconds.get(of(one), 0.0) + one.seconds
    return max(seconds.items(), key=lambda pair: pair[1])


def _table(rows: Sequence[tuple[Instruction, Sequence[WaitedFor]]], lines: Sequence[str | None]) -> Table:
    lasts = [Counter(one.last for one in waits if one.last != NONE).most_common(1) for _, waits in rows]
    found = [lines[waits[0].op] for _, waits in rows]
    columns = {
        "op": Column([op for (_, op), _ in rows], doc="HLO instruction"),
        "module": Column([module for (module, _), _ in rows], doc="XLA module that it belongs to"),
        "line": Column(found, doc="source line"),
        "count": Column([len(waits) for _, waits in rows], is_whole=True, doc="how often all processes took part"),
        "last": Column([most[0][0] if most else None for most in lasts], is_whole=True,
                       doc="the process that most often begins it last"),
        "times last": Column([most[0][1] if most else 0 for most in lasts], is_whole=True, doc="how often it does"),
        "wait": Column([float(np.median([one.seconds for one in waits])) for _, waits in rows], "s",
                       "from the first process that begins it to the last, the median"),
        "total": Column([sum(one.seconds for one in waits) for _, waits in rows], "s", "the same in all"),
    }  # fmt: skip
    reasons: dict[Place, str] = {(at, "line"): clock_wording.NO_LINE for at, line in enumerate(found) if line is None}
    reasons |= {(at, "last"): clock_wording.NO_LAST for at, most in enumerate(lasts) if not most}
    notes = () if rows else (clock_wording.NO_WAITS,)
    return Table("waits of processes for each other", columns, reasons, notes=notes)
