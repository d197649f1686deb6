"""Each collective of a module: devices, bytes, lower bound of its time, overlap with other work, and causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from jaxstage_ext.analysis.collectives import device_groups as sets
from jaxstage_ext.analysis.collectives.cause_finder import Causes, Exchanged
from jaxstage_ext.analysis.collectives.collective_causes import CollectiveCause
from jaxstage_ext.analysis.collectives.collective_ops import CollectiveOp
from jaxstage_ext.analysis.collectives.collective_ops import CollectiveOps as Finder
from jaxstage_ext.analysis.collectives.device_groups import Groups
from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks, sent
from jaxstage_ext.analysis.cost.loops import executions
from jaxstage_ext.analysis.cost.loops.executions import Executions
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.propagation import Propagated
from jaxstage_ext.ir.hlo import schedule
from jaxstage_ext.ir.hlo.module import Module


class Overlap(StrEnum):
    """Whether other work hides a collective: none of its time, part of it, all of it.

    Where its time is unknown it is HIDDEN if any work is scheduled between its start and its end.
    """

    EXPOSED = "exposed"
    PARTLY = "partly overlapped"
    HIDDEN = "overlapped"


@dataclass(frozen=True, eq=False)
class CollectiveRow:
    """One collective."""

    op: CollectiveOp = field(repr=False)
    """Its instructions."""
    groups: Groups
    """The devices that communicate."""
    inputs: tuple[int, ...]
    """The instructions that go in."""
    payload: int
    """Bytes per device."""
    sent: float | None
    """Lower bound of the bytes that a device sends in one run; None unknown."""
    runs: float
    """Times in one run of the module."""
    in_unknown_loop: bool
    """Whether it is inside a loop of unknown length."""
    seconds: float | None
    """Lower bound of one run, None unknown for `why_no_seconds`."""
    why_no_seconds: str
    meanwhile: tuple[int, ...] | None
    """Instructions that work between its start and its end; None where the order is unknown."""
    causes: tuple[CollectiveCause, ...]
    hidden: float | None = None
    """Seconds of all runs that other work hides; None where unknown."""

    @property
    def total_sent(self) -> float | None:
        return None if self.sent is None else self.sent * self.runs

    @property
    def total_seconds(self) -> float | None:
        return None if self.seconds is None else self.seconds * self.runs

    @property
    def exposed(self) -> float | None:
        """Seconds of all runs that no other work hides; None where unknown."""
        return None if self.hidden is None or self.total_seconds is None else self.total_seconds - self.hidden

    @property
    def overlap(self) -> Overlap | None:
        """None where the order of the instructions is unknown."""
        if self.meanwhile is None:
            return None
        if not self.meanwhile or self.exposed is None or not self.total_seconds:
            return Overlap.HIDDEN if self.meanwhile else Overlap.EXPOSED
        return Overlap.EXPOSED if not self.hidden else Overlap.PARTLY if self.exposed else Overlap.HIDDEN


@dataclass(frozen=True)
class SourceProgram:
    """The program that a module was compiled from, as far as its collectives are concerned."""

    devices: int
    """How many it runs on."""
    meshes: Sequence[Mesh] = ()
    """Meshes of the program; their axes name the groups."""
    links: DeviceLinks = field(default_factory=DeviceLinks)
    """The links of one device of the target."""
    propagated: Propagated | None = None
    """The module before it was partitioned; None where unknown, for `why_unknown`."""
    why_unknown: str = ""
    warnings: Sequence[str] = ()
    """Lines that the partitioner logged."""


class Sent(NamedTuple):
    """What devices send in one run."""

    most: float
    """Bytes of the device that sends most."""
    is_least: bool
    """Whether it may be more: collectives of unknown devices, or in loops of unknown length."""
    by_each: bool
    """Whether each device sends as much."""


def total_sent(rows: Sequence[CollectiveRow], devices: int) -> Sent:
    """What one of so many devices sends in all of these."""
    by_device: dict[int, float] = {}
    for row in rows:
        if row.total_sent is not None and not row.in_unknown_loop:
            for device in row.groups.senders:
                by_device[device] = by_device.get(device, 0.0) + row.total_sent
    most = max(by_device.values(), default=0.0)
    by_each = len(by_device) == devices and min(by_device.values()) == most
    is_least = any(row.total_sent is None or row.in_unknown_loop for row in rows)
    return Sent(most, is_least, by_each or not most)


def read(module: Module, places: Places, program: SourceProgram) -> list[CollectiveRow]:
    """The collectives of a module, the costliest first."""
    finder = Finder(module, schedule.places(module))
    causes = Causes(module, places.line, program.propagated, program.why_unknown)
    runs = executions.count(module)
    rows = [_row(op, finder, runs, causes, program) for op in finder.collectives]
    timed = all(row.seconds is not None for row in rows)
    return sorted(rows, key=lambda row: (-(row.total_seconds or 0) if timed else 0, -(row.total_sent or 0)))


def _row(op: CollectiveOp, finder: Finder, runs: Executions, reasons: Causes, program: SourceProgram) -> CollectiveRow:
    computation = finder.computation(op)
    groups = sets.named(sets.read(op.message, op.kind, program.devices), program.meshes)
    given = finder.given(op)
    payload = given * (groups.size or 1) if op.kind == "all-gather" else given
    out = None if groups.size is None else sent(op.kind, payload, groups.size, program.links.reduces)
    seconds, why = _seconds(out, payload, op.kind, groups, program.links, op.row in finder.accompanied)
    meanwhile = tuple(finder.between(op)) if finder.is_scheduled else None
    times, unknown = float(runs.times[computation]), bool(runs.unknown[computation])
    inputs = tuple(finder.inputs(op))
    causes = reasons.of(op, inputs, _exchanged(op, finder, groups))
    return CollectiveRow(op, groups, inputs, payload, out, times, unknown, seconds, why, meanwhile, causes)


def _exchanged(op: CollectiveOp, finder: Finder, groups: Groups) -> Exchanged:
    """What goes in is exchanged; for a reduce-scatter it may be what comes out."""
    given = finder.elements(op)
    sizes = {given, given // (groups.size or 1)} if op.kind == "reduce-scatter" else {given}
    axes = frozenset(axis.name for axis in groups.axes or ())
    return Exchanged(op.kind, frozenset(sizes), finder.shapes(op), finder.shapes_given(op), axes)


def _seconds(
    out: float | None, payload: float, kind: str, groups: Groups, links: DeviceLinks, beside: bool
) -> tuple[float | None, str]:
    if out is None:
        return None, groups.problem or "it is unknown how much this collective sends"
    return (0.0, "") if out == 0 else links.seconds(kind, payload, groups, beside)
