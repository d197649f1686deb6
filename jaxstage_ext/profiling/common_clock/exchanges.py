"""Collectives of several processes that are one and the same, and when each process began and left them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from jaxstage_ext.profiling.common_clock.blocking_ops import UNKNOWN, BlockingOps
from jaxstage_ext.report.clock_skew import NoSkew
from jaxstage_ext.report.recording import DEVICE_WORK, NONE, Recording

MOST_EVENTS = 20_000
"""Events of collectives that are looked at in each process, the earliest first."""
_LEAST_LAUNCH = 2**20
"""Numbers of runs below it are counts of one process's own; larger ones are the launch of a program, made of its name
and how often it has been launched, which is the same in all processes."""

_MOST_SHIFT = 200
"""Collectives by which one profile may begin later than another, where they are paired by their order."""
Each = TypeVar("Each")
Instruction = tuple[str, str]
"""A module and an instruction of it."""


@dataclass(frozen=True, slots=True)
class OwnExchange:
    """One collective in one process: when the last of its devices began, and the first left, in picoseconds."""

    op: int
    begin: int
    end: int


@dataclass(frozen=True)
class CommonExchange:
    """One collective in all processes, each as its own profile has it.

    Attributes:
      is_by_order: whether it is paired by its place among the others of its instruction, not by the launch.
    """

    instruction: Instruction
    of: tuple[OwnExchange, ...]
    is_by_order: bool


class ProcessExchanges:
    """The collectives of one process in which all devices wait for each other.

    Args:
      recording: of one process, or of several.
      host: the process, as `EventLane.host` has it.
      later: picoseconds to add to its times.
    """

    def __init__(self, recording: Recording, host: int = 0, later: int = 0) -> None:
        self._recording, self._host, self._later = recording, host, later
        self.ops = BlockingOps(recording)

    @cached_property
    def _rows(self) -> list[int]:
        """Its events, in the order of time."""
        events, recording = self._recording.events, self._recording
        blocking = np.zeros(len(recording.ops) + 1, bool)
        blocking[list(self.ops.devices)] = True
        blocking[NONE] = False
        hosts = np.array([lane.host for lane in recording.lanes], np.int64)
        starts = np.array([name.endswith("-start") or "-start." in name for name in recording.names], bool)
        rows = np.flatnonzero(blocking[events.op] & np.isin(events.kind, DEVICE_WORK))
        rows = rows[(hosts[events.lane[rows]] == self._host) & ~starts[events.name[rows]]]
        kept: list[int] = rows[np.argsort(events.start[rows], kind="stable")][:MOST_EVENTS].tolist()
        return kept

    @cached_property
    def launches(self) -> Mapping[int, int] | None:
        """The launch of each run, which is the same in all processes; None where the profile does not tell it."""
        found: dict[int, int] = {}
        for row in self._rows:
            run = int(self._recording.events.run[row])
            if run not in found:
                told = self._recording.details(row).get("run_id")
                if run == NONE or not isinstance(told, int) or abs(told) < _LEAST_LAUNCH:
                    return None
                found[run] = told
        return found

    @cached_property
    def devices(self) -> dict[Instruction, int]:
        """On how many devices of this process each instruction ran."""
        events = self._recording.events
        found: dict[Instruction, set[int]] = {}
        for row in self._rows:
            found.setdefault(self._instruction(int(events.op[row])), set()).add(int(events.device[row]))
        return {instruction: len(devices) for instruction, devices in found.items()}

    def taking_part(self, instruction: Instruction) -> int:
        """How many devices of all processes take part in an instruction; UNKNOWN where no profile has its module."""
        return self._sizes.get(instruction, UNKNOWN)

    @cached_property
    def _sizes(self) -> dict[Instruction, int]:
        return {self._instruction(op): size for op, size in self.ops.devices.items()}

    def _instruction(self, op: int) -> Instruction:
        ops = self._recording.ops
        return self._recording.modules[ops.module[op]].name if ops.module[op] >= 0 else "", ops.name[op]

    def by_launch(self) -> dict[tuple[Instruction, int], list[OwnExchange]]:
        """The collectives of each instruction in each launch, in the order of time; {} where launches are not known."""
        launches = self.launches or {}
        found: dict[tuple[Instruction, int], list[OwnExchange]] = {}
        for run, instruction, exchange in self._exchanges() if launches else ():
            found.setdefault((instruction, launches[run]), []).append(exchange)
        return found

    def by_instruction(self) -> dict[Instruction, list[OwnExchange]]:
        """The collectives of each instruction, in the order of time."""
        found: dict[Instruction, list[OwnExchange]] = {}
        for _, instruction, exchange in self._exchanges():
            found.setdefault(instruction, []).append(exchange)
        return found

    def _exchanges(self) -> Iterator[tuple[int, Instruction, OwnExchange]]:
        """Run, instruction and times: the n-th event of each device is of the n-th time that the run comes there."""
        events, times = self._recording.events, dict[tuple[int, int, int], int]()
        merged: dict[tuple[int, int, int], OwnExchange] = {}
        for row in self._rows:
            op, run, device = int(events.op[row]), int(events.run[row]), int(events.device[row])
            nth = times[op, run, device] = times.get((op, run, device), -1) + 1
            begin = int(events.start[row]) + self._later
            end = begin + int(events.duration[row])
            if (known := merged.get((op, run, nth))) is not None:
                begin, end = max(begin, known.begin), min(end, known.end)
            merged[op, run, nth] = OwnExchange(op, begin, end)
        for (op, run, _), exchange in merged.items():
            yield run, self._instruction(op), exchange


def common_exchanges(processes: Sequence[ProcessExchanges], is_one_clock: bool) -> list[CommonExchange]:
    """The collectives that are in all of the profiles, in the order of time of the first."""
    found = list(_by_launch(processes)) or list(_by_order(processes, is_one_clock))
    kept = [one for one in found if _is_joint(one.instruction, processes)]
    return sorted(kept, key=lambda one: one.of[0].end)


def _by_launch(processes: Sequence[ProcessExchanges]) -> Iterator[CommonExchange]:
    """None where launches have other numbers, as of programs with other file names in them, or one from a cache."""
    runs = [process.by_launch() for process in processes]
    for instruction, launch in runs[0]:
        for each in _same_number([of.get((instruction, launch), []) for of in runs]):
            yield CommonExchange(instruction, each, False)


def why_none(processes: Sequence[ProcessExchanges]) -> NoSkew:
    """Why no collective is in all of them."""
    if any(process.ops.leaves_out_groups for process in processes):
        return NoSkew.GROUPS
    return NoSkew.NO_COLLECTIVE if not all(process.devices for process in processes) else NoSkew.NOT_COMMON


def _same_number(lists: Sequence[Sequence[Each]]) -> Iterator[tuple[Each, ...]]:
    """The n-th of each together; nothing where one has more than another, as at the edges of a profile."""
    if len({len(each) for each in lists}) == 1:
        yield from zip(*lists, strict=True)


def _by_order(processes: Sequence[ProcessExchanges], is_one_clock: bool) -> Iterator[CommonExchange]:
    """The n-th of each together where all have equally many; on one clock those that are nearest to each other."""
    lists = [process.by_instruction() for process in processes]
    for instruction, first in lists[0].items():
        others: list[list[OwnExchange | None]] = [list(of.get(instruction, [])) for of in lists[1:]]
        if is_one_clock:
            others = [_nearest(first, of.get(instruction, [])) for of in lists[1:]]
        of_all: list[Sequence[OwnExchange | None]] = [first, *others]
        for each in _same_number(of_all):
            whole = tuple(one for one in each if one is not None)
            if len(whole) == len(processes):
                yield CommonExchange(instruction, whole, True)


def _nearest(first: Sequence[OwnExchange], other: Sequence[OwnExchange]) -> list[OwnExchange | None]:
    """Of another process the collective that stands beside each, by the shift with which they end nearest."""
    own, its = (np.array([one.end for one in exchanges], np.int64) for exchanges in (first, other))
    costs = {
        shift: float(np.median(np.abs(its[max(-shift, 0) :][:common] - own[max(shift, 0) :][:common])))
        for shift in range(max(-len(its) + 1, -_MOST_SHIFT), min(len(own), _MOST_SHIFT))
        if 2 * (common := min(len(its) - max(-shift, 0), len(own) - max(shift, 0))) >= min(len(own), len(its))
    }
    best = min(costs, key=lambda shift: (costs[shift], abs(shift)), default=0)
    return [other[at - best] if 0 <= at - best < len(other) else None for at in range(len(first))]


def _is_joint(instruction: Instruction, processes: Sequence[ProcessExchanges]) -> bool:
    """Whether its devices are those of all these processes, and not those of each alone."""
    size = next((size for process in processes if (size := process.taking_part(instruction))), UNKNOWN)
    return size == UNKNOWN or size >= sum(process.devices.get(instruction, 0) for process in processes)
