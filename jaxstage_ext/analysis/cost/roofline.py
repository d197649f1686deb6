"""Which ceiling of a device each instruction meets: its matrix or vector units, or its memory.

Roofline model: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009.
A time here is a lower bound, by the maker's peaks: FLOPs by peak, bytes by bandwidth, bytes sent by the links', the
largest of them. Bytes of memory on the chip have no ceiling: no maker gives its bandwidth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.collectives.exposed_time import Exchange
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import TYPES
from jaxstage_ext.report.table import Column, Table, scaled

Floats = npt.NDArray[np.float64]

KINDS = COMPUTE, MEMORY, INTERCONNECT, UNKNOWN = "compute", "memory", "interconnect", "unknown"
_MATRIX = (b"dot", b"convolution", b"custom-call")
_FASTEST = {"tpu": {"f32": "bf16"}, "cuda": {"f32": "tf32"}}
"""What a matrix unit computes f32 in at JAX's default precision: docs.jax.dev, jax.lax.Precision.DEFAULT."""


class Ceilings(Protocol):
    """The figures of `core.devices.Device` that a roofline needs."""

    @property
    def title(self) -> str: ...
    @property
    def flops(self) -> Mapping[str, float]: ...
    @property
    def bandwidth(self) -> float | None: ...


@dataclass(frozen=True, eq=False)
class Roofline:
    """The instructions of a module against one device.

    Attributes:
      rows: instructions, the longest bound first.
      intensity: FLOP/B of the device's memory; of one that works on the chip alone, of that.
      moved: bytes in all.                           near: of these, bytes on the chip.
      seconds: lower bound of all runs, NaN unknown. hidden: of these, what other work hides of a collective.
      bound: which ceiling it meets.                 unit: the dtype of the peak that is used, "" where unknown.
      row: of the HLO document, -1 none.             line: its source line, "" unknown.
      unlinked: of each collective whose time is unknown, why.
    """

    title: str
    peaks: Mapping[str, float]
    bandwidth: float | None
    rows: npt.NDArray[np.int64]
    names: list[str]
    intensity: Floats
    flops: Floats
    moved: Floats
    seconds: Floats
    bound: list[str]
    unit: list[str]
    line: list[str]
    row: npt.NDArray[np.int64]
    near: Floats
    hidden: Floats
    unlinked: Sequence[str] = ()
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def total(self) -> float:
        """The least time of the program in seconds, as far as it is known."""
        return float(np.nansum(self.seconds - self.hidden))

    @cached_property
    def shares(self) -> dict[str, float]:
        """Of the least time, what each ceiling takes."""
        kinds, left = np.array(self.bound, object), self.seconds - self.hidden
        return {kind: float(np.nansum(left[kinds == kind])) / (self.total or 1.0) for kind in KINDS}

    @cached_property
    def attainable(self) -> Floats:
        """FLOP/s that each instruction can reach under its roof; NaN where it computes nothing, or of unknowns."""
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = self.flops / self.seconds
        return np.where((self.flops > 0) & (self.intensity > 0) & np.isfinite(speed), speed, np.nan)

    @cached_property
    def ridges(self) -> dict[str, float]:
        """Per dtype the intensity in FLOP/B at which memory and compute take as long; empty without a bandwidth."""
        return {kind: peak / self.bandwidth for kind, peak in self.peaks.items()} if self.bandwidth else {}

    @cached_property
    def left_out(self) -> str:
        """Which instructions a chart cannot show, and why; "" where it shows all."""
        nothing = int(((self.flops == 0) | (self.intensity == 0)).sum())
        unknown = int(np.isnan(self.attainable).sum()) - nothing
        parts = [f"{nothing:,} that only move data"] if nothing else []
        parts += [f"{unknown:,} whose FLOPs, bytes or peak are unknown"] if unknown else []
        return f"Not on the chart: {' and '.join(parts)}." if parts else ""

    @cached_property
    def bounded_by(self) -> str:
        """What bounds the program: the ceiling that takes most of the least time, or "unknown"."""
        return UNKNOWN if self.unlinked or not self.total else self._longest

    @property
    def _longest(self) -> str:
        return max(self.shares, key=lambda name: self.shares[name])

    @cached_property
    def verdict(self) -> str:
        """What bounds the program, in one sentence."""
        if self.unlinked:
            return f"What bounds it is unknown: {self._why_unlinked}.{self._rest}"
        if self.bandwidth is None and not self.peaks:
            return f"What bounds it is unknown: the peaks of {self.title} are unknown."
        if not self.total:
            return "Nothing is computed or moved."
        share = f"{self.shares[self._longest]:.0%} of the least time that {self.title} can take"
        if self._longest == UNKNOWN:
            return f"What bounds it is unknown: {share} goes to instructions whose FLOPs are unknown."
        to = "collectives that no other work hides" if self._longest == INTERCONNECT else "instructions at that ceiling"
        return f"Bound by {self._longest}: {share} for it ({scaled(self.total, 's')}) goes to {to}."

    @property
    def _why_unlinked(self) -> str:
        many = len(self.unlinked)
        reasons = "; ".join(dict.fromkeys(self.unlinked))
        return f"how long its {f'{many:,} collectives take' if many > 1 else 'collective takes'} is not ({reasons})"

    @property
    def _rest(self) -> str:
        """What bounds the program apart from collectives that are not known."""
        if not self.total or self._longest == UNKNOWN:
            return ""
        return f" Of the rest, {self.shares[self._longest]:.0%} is bound by {self._longest}."

    @cached_property
    def table(self) -> Table:
        return Table(
            "roofline",
            {
                "instruction": Column(self.names),
                "bound": Column(self.bound),
                "least time": Column(self.seconds, "s", "lower bound of all runs"),
                "hidden": Column(self.hidden, "s", "of these, what other work hides of a collective"),
                "intensity": Column(self.intensity, "FLOP/B"),
                "FLOPs": Column(self.flops, "FLOP"),
                "bytes": Column(self.moved, "B"),
                "on chip": Column(self.near, "B", "of these, in memory on the chip"),
                "unit": Column(self.unit, "", "dtype of the peak"),
                "line": Column(self.line),
            },
            notes=(self.verdict, *self.notes),
        )

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__


def read(cost: Cost, device: Ceilings, platform: str, exchanges: Sequence[Exchange] = ()) -> Roofline:
    """Hold a module's cost against a device; `platform` is "cpu", "tpu" or "cuda"."""
    rows = cost.shown
    runs = cost.runs[rows]
    flops = (cost.flops + cost.transcendentals)[rows] * runs
    moved = cost.moved[rows] * runs
    near = cost.near[rows] * runs if platform == "tpu" and len(cost.near) else np.zeros(len(rows))
    unit = units(cost.ops, platform)
    peak = np.array([device.flops.get(kind, np.nan) for kind in unit[rows]], np.float64)
    times = flops / peak, (moved - near) / (device.bandwidth or np.nan), _links(rows, exchanges)
    seconds, bound = (
        np.fmax(np.fmax(*times[:2]), np.where(times[2] > 0, times[2], np.nan)),
        _bounds(*times, flops, (near > 0) & (near == moved)),
    )
    order = np.argsort(-np.nan_to_num(seconds), kind="stable")
    with np.errstate(divide="ignore", invalid="ignore"):
        intensity = np.where(moved > 0, flops / np.where(moved > near, moved - near, moved), np.nan)
    return Roofline(
        device.title,
        dict(device.flops),
        device.bandwidth,
        rows[order],
        [cost.ops.names[row].decode() for row in rows[order]],
        intensity[order],
        flops[order],
        moved[order],
        seconds[order],
        [bound[i] for i in order],
        unit[rows[order]].tolist(),
        [cost.places.line[row] for row in rows[order]],
        cost.places.row[rows[order]],
        near[order],
        _hidden(rows, seconds, exchanges)[order],
        tuple(one.why for one in exchanges if np.isnan(one.seconds)),
        _notes(cost, peak, flops, device, near),
    )


def _links(rows: npt.NDArray[np.int64], exchanges: Sequence[Exchange]) -> Floats:
    """Seconds of each instruction's collectives; 0 for none, NaN unknown."""
    seconds = np.zeros(len(rows))
    for place, one in exposed_time.onto(exchanges, {int(row): i for i, row in enumerate(rows)} if exchanges else {}):
        if place >= 0:
            seconds[place] += one.seconds
    return seconds


def _hidden(rows: npt.NDArray[np.int64], seconds: Floats, exchanges: Sequence[Exchange]) -> Floats:
    """Seconds of collectives that go by while other instructions work."""
    place = {int(row): i for i, row in enumerate(rows)} if exchanges else {}
    hidden = np.zeros(len(rows))
    for at, one in exposed_time.onto(exchanges, place):
        if at >= 0 and one.meanwhile and not np.isnan(one.seconds):
            work = float(np.nansum(seconds[[place[row] for row in one.meanwhile if row in place]]))
            hidden[at] = min(seconds[at], hidden[at] + min(one.seconds, work))
    return hidden


def _bounds(compute: Floats, memory: Floats, links: Floats, flops: Floats, is_near: Any) -> list[str]:
    """The ceiling of each instruction; unknown where one that may be the lowest is.

    No memory is as slow as links, so those bound a collective whose bytes are on the chip.
    """
    unknown = np.isnan(memory) | np.isnan(flops) | np.isnan(links) | (is_near & ~(compute > 0) & ~(links > 0))
    linked, computed = links > np.fmax(compute, memory), compute > memory
    return list(np.select([unknown, linked, computed], [UNKNOWN, INTERCONNECT, COMPUTE], MEMORY))


def _notes(cost: Cost, peak: Floats, flops: Floats, device: Ceilings, near: Floats) -> tuple[str, ...]:
    told = list(cost.notes)
    without = int((np.isnan(peak) & (flops > 0)).sum())
    if without and device.bandwidth:
        many = f"{without:,} instruction{'s' if without > 1 else ''}"
        told.append(f"{device.title}'s peak for the dtype of {many} is unknown: there memory alone is counted.")
    if near.any():
        share = near.sum() / ((cost.moved * cost.runs)[cost.shown].sum() or 1)
        told.append(
            f"{share:.0%} of the bytes stay in memory on the chip (VMEM): they take no bandwidth of HBM, and the maker "
            "gives no bandwidth of their own, so nothing bounds them here."
        )
    return tuple(told)


def units(ops: Module, platform: str) -> npt.NDArray[np.object_]:
    """Per instruction that is no member of a fusion, the dtype in which the device computes it; "" for tuples.

    That is the operands' of its dot or convolution, where it has one, at JAX's default precision; else its result's.
    """
    faster = _FASTEST.get(platform, {})
    own = np.array([_UNITS.get(kind, "") for kind in range(max(TYPES) + 1)], object)
    matrix = np.array([faster.get(kind, kind) for kind in own], object)
    kinds = ops.shapes.element_type
    found = own[np.where(kinds < len(own), kinds, 0)]
    operand = ops.operands.at(0)
    rows = ops.rows(*_MATRIX)
    rows = rows[operand[rows] >= 0]
    found[rows] = matrix[kinds[operand[rows]]]
    inside = np.full(len(ops.computations), "", object)
    inside[ops.computation[rows]] = found[rows]
    caller, called = ops.called.owner, ops.called.values
    holds = (called >= 0) & (inside[called] != "") & ~np.isin(caller, rows)
    found[caller[holds]] = inside[called[holds]]
    return found


_UNITS = {number: "f8" if name.startswith("f8") else name for number, (name, _) in TYPES.items()}
"""Makers give one peak for all the kinds of f8."""
