"""The compile logs of all processes of a job as one: what each compiled, in which order, and who waited for whom."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome
from jaxstage_ext.processes.compile_row_form import CompileRowForm, ProcessLogForm

ProgramName = tuple[str, str]
"""A function and the types that it was called with."""


@dataclass(frozen=True)
class JobProgram:
    """A program over devices of several processes, and what each of them did for it.

    Attributes:
      time: counts how often a program of that name was compiled before.
      spans: the processes whose devices it runs on.
      rows: the record of each process that has one, by its index.
    """

    name: ProgramName
    time: int
    spans: tuple[int, ...]
    rows: Mapping[int, CompileRowForm]

    @property
    def absent(self) -> tuple[int, ...]:
        """The processes that it runs on and that have no record of it."""
        return tuple(process for process in self.spans if process not in self.rows)

    @property
    def arrivals(self) -> dict[int, float]:
        """When each process had it ready, by its own clock."""
        return {process: ended for process, row in self.rows.items() if (ended := row["ended"]) is not None}

    @property
    def seconds(self) -> dict[int, float]:
        """What its stages took in each process."""
        stages = {p: [row["trace"], row["lower"], row["compile"]] for p, row in self.rows.items()}
        return {process: sum(filter(None, taken)) for process, taken in stages.items()}

    @property
    def is_eager(self) -> bool:
        """Whether it is of an operation outside any jitted function."""
        return any(row["is_eager"] for row in self.rows.values())

    @property
    def has_other_keys(self) -> bool:
        """Whether its key in the persistent cache differs between processes."""
        return len({row["key"] for row in self.rows.values() if row["key"]}) > 1


@dataclass(frozen=True)
class OrderDifference:
    """Where the order in which processes compiled their common programs differs first.

    Attributes:
      place: counts the programs of several processes from 1.
      compiled: the program that processes compiled there, and their indices.
    """

    place: int
    compiled: Mapping[ProgramName, tuple[int, ...]]


@dataclass(frozen=True)
class CacheUse:
    """What JAX's persistent cache did for the compiles of one process.

    Attributes:
      outcomes: how many compiles ended so.   folder: in use there, "" for none.
    """

    process: int
    folder: str
    outcomes: Mapping[CacheOutcome, int]

    @property
    def asked(self) -> int:
        """How many compiles asked it while a folder was in use."""
        return sum(count for outcome, count in self.outcomes.items() if outcome is not CacheOutcome.OFF)


@dataclass(frozen=True, eq=False)
class MergedCompiles:
    """The logs of the processes of a job, in the order of their indices.

    Attributes:
      missing: why a process gave no log, by its index.
    """

    logs: tuple[ProcessLogForm, ...]
    missing: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many records there are in all."""
        return sum(len(log["rows"]) for log in self.logs)

    @cached_property
    def programs(self) -> tuple[JobProgram, ...]:
        """The programs over devices of several processes, in the order in which they were first compiled."""
        grouped: dict[tuple[ProgramName, int], dict[int, CompileRowForm]] = {}
        for log in self.logs:
            for name, time, row in _spanning(log):
                grouped.setdefault((name, time), {})[log["process"]] = row
        made = [
            JobProgram(name, time, tuple(sorted({p for row in rows.values() for p in row["processes"]})), rows)
            for (name, time), rows in grouped.items()
        ]
        return tuple(sorted(made, key=self._place))

    def _place(self, program: JobProgram) -> tuple[float, int]:
        first = min(program.rows)
        if self.shares_clock:
            return min(row["began"] for row in program.rows.values()), 0
        return float(first), program.rows[first]["number"]

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the processes, each once."""
        return tuple(dict.fromkeys(log["host"] for log in self.logs))

    @property
    def shares_clock(self) -> bool:
        """Whether all processes are on one host, so that their times can be compared."""
        return len(self.hosts) <= 1

    def waited(self, program: JobProgram) -> float | None:
        """Seconds from the first process that had a program ready to the last, for which those before wait where it
        exchanges data.

        None where a process has no record of it or still compiles it, or where clocks cannot be compared.
        """
        arrivals = program.arrivals
        if not self.shares_clock or program.absent or len(arrivals) < len(program.rows):
            return None
        return max(arrivals.values()) - min(arrivals.values())

    @cached_property
    def order_difference(self) -> OrderDifference | None:
        """Where the order differs first; None where all compiled what they have in common in one order."""
        orders = {log["process"]: [(name, time) for name, time, _ in _spanning(log)] for log in self.logs}
        found = [
            (place, first, second)
            for first, second in itertools.combinations(orders, 2)
            if (place := _first_difference(orders[first], orders[second])) is not None
        ]
        if not found:
            return None
        place, first, second = min(found)
        compiled: dict[ProgramName, list[int]] = {}
        for process in orders:
            mine, _ = _in_common(orders[process], orders[second if process == first else first])
            if place < len(mine):
                compiled.setdefault(mine[place][0], []).append(process)
        return OrderDifference(place + 1, {name: tuple(processes) for name, processes in compiled.items()})

    @property
    def stopped(self) -> dict[ProgramName, tuple[int, ...]]:
        """The programs that the guard stopped, so that they never ran, and in which processes it did."""
        found: dict[ProgramName, list[int]] = {}
        for log in self.logs:
            for row in log["rows"]:
                if row["outcome"] == RecordOutcome.STOPPED.value:
                    found.setdefault((row["program"], row["signature"]), []).append(log["process"])
        return {name: tuple(dict.fromkeys(processes)) for name, processes in found.items()}

    @property
    def uses_cache(self) -> bool:
        """Whether a compile of any process asked JAX's persistent cache while a folder was in use."""
        return any(use.asked for use in self.cache_uses)

    @property
    def cache_uses(self) -> tuple[CacheUse, ...]:
        """What the persistent cache did in each process."""
        return tuple(_cache_use(log) for log in self.logs)


def _spanning(log: ProcessLogForm) -> list[tuple[ProgramName, int, CompileRowForm]]:
    """The programs of several processes that one compiled, in its order; how often it had compiled their names."""
    seen: Counter[ProgramName] = Counter()
    found = []
    for row in log["rows"]:
        if len(row["processes"]) > 1 and row["outcome"] != RecordOutcome.STOPPED.value:
            name = row["program"], row["signature"]
            found.append((name, seen[name], row))
            seen[name] += 1
    return found


Order = list[tuple[ProgramName, int]]


def _in_common(mine: Order, other: Order) -> tuple[Order, Order]:
    """What both have, in the order of each."""
    common = set(mine) & set(other)
    return [one for one in mine if one in common], [one for one in other if one in common]


def _first_difference(mine: Order, other: Order) -> int | None:
    pairs = enumerate(zip(*_in_common(mine, other), strict=True))
    return next((place for place, (one, its) in pairs if one != its), None)


def _cache_use(log: ProcessLogForm) -> CacheUse:
    counted = Counter(CacheOutcome[row["cache"]] for row in log["rows"] if row["cache"])
    return CacheUse(log["process"], log["cache_folder"], counted)
