"""The ceiling of a device that limits each instruction: its matrix or vector units, its memory, or its links.

Roofline model: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009.
A time here is a lower bound by published peaks: the largest of FLOPs by peak FLOP/s, bytes by memory bandwidth, and
bytes sent by link bandwidth. Bytes in memory on the chip have no ceiling, since its bandwidth is not published.
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
from jaxstage_ext.analysis.cost import cost_wording as wording
from jaxstage_ext.analysis.cost.ceilings import Ceiling, Outcome
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import TYPES
from jaxstage_ext.report.table import Column, Table

Floats = npt.NDArray[np.float64]

COMPUTE, MEMORY, INTERCONNECT, UNKNOWN = Ceiling
_MATRIX = (b"dot", b"convolution", b"custom-call")
_FASTEST = {"tpu": {"f32": "bf16"}, "cuda": {"f32": "tf32"}}
"""The dtype in which a matrix unit computes f32 at JAX's default precision: jax.lax.Precision.DEFAULT."""


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
    """The instructions of a module under the ceilings of one device.

    Attributes:
      rows: instructions, the largest lower bound first.
      intensity: FLOP/B of the device's memory; of memory on the chip where only that is used.
      moved: all bytes.                              near: of these, bytes on the chip.
      seconds: lower bound of all runs, NaN unknown. hidden: of these, the time of a collective that other work hides.
      bound: the ceiling that limits it.             unit: the dtype of the peak that is used, "" unknown.
      row: of the HLO document, -1 none.             line: its source line, "" unknown.
      unlinked: for each collective whose time is unknown, why.
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
    bound: list[Ceiling]
    unit: list[str]
    line: list[str]
    row: npt.NDArray[np.int64]
    near: Floats
    hidden: Floats
    unlinked: Sequence[str] = ()
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def total(self) -> float:
        """The lower bound of the program's time in seconds, as far as it is known."""
        return float(np.nansum(self.seconds - self.hidden))

    @cached_property
    def shares(self) -> dict[Ceiling, float]:
        """The share of the lower bound that each ceiling takes."""
        kinds, left = np.array(self.bound, object), self.seconds - self.hidden
        return {kind: float(np.nansum(left[kinds == kind])) / (self.total or 1.0) for kind in Ceiling}

    @cached_property
    def attainable(self) -> Floats:
        """FLOP/s that each instruction can reach under its ceiling; NaN where it computes nothing or where unknown."""
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = self.flops / self.seconds
        return np.where((self.flops > 0) & (self.intensity > 0) & np.isfinite(speed), speed, np.nan)

    @cached_property
    def ridges(self) -> dict[str, float]:
        """Per dtype, the intensity in FLOP/B at which memory and compute take equally long; empty if unknown."""
        return {kind: peak / self.bandwidth for kind, peak in self.peaks.items()} if self.bandwidth else {}

    @cached_property
    def left_out(self) -> str:
        """Which instructions a chart cannot show, and why; "" where it shows all."""
        nothing = int(((self.flops == 0) | (self.intensity == 0)).sum())
        unknown = int(np.isnan(self.attainable).sum()) - nothing
        return wording.left_out(nothing, unknown)

    @cached_property
    def bounded_by(self) -> Ceiling:
        """The ceiling that takes most of the lower bound; UNKNOWN where that is unclear."""
        return UNKNOWN if self.unlinked or not self.total else self._longest

    @property
    def _longest(self) -> Ceiling:
        return max(self.shares, key=lambda ceiling: self.shares[ceiling])

    @cached_property
    def outcome(self) -> Outcome:
        """Whether it is known what bounds the program, and why not."""
        if self.unlinked:
            return Outcome.NO_LINK_SPEED
        if self.bandwidth is None and not self.peaks:
            return Outcome.NO_PEAKS
        if not self.total:
            return Outcome.NO_WORK
        return Outcome.UNKNOWN_WORK if self._longest is UNKNOWN else Outcome.BOUND

    @cached_property
    def verdict(self) -> str:
        """What bounds the program, in one sentence."""
        longest = self._longest
        return wording.verdict(self.outcome, longest, self.shares[longest], self.total, self.title, self.unlinked)

    @cached_property
    def table(self) -> Table:
        return Table(
            "roofline",
            {
                "instruction": Column(self.names),
                "bound": Column([ceiling.value for ceiling in self.bound]),
                "lower bound": Column(self.seconds, "s", "of the time of all runs"),
                "hidden": Column(self.hidden, "s", "of these, the time of a collective that other work hides"),
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
    """The roofline of a module on a device; `platform` is "cpu", "tpu" or "cuda"."""
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
        tuple(exchange.why for exchange in exchanges if np.isnan(exchange.seconds)),
        _notes(cost, peak, flops, device, near),
    )


def _links(rows: npt.NDArray[np.int64], exchanges: Sequence[Exchange]) -> Floats:
    """Seconds of each instruction's collectives; 0 for none, NaN unknown."""
    seconds = np.zeros(len(rows))
    for place, exchange in exposed_time.onto(
        exchanges, {int(row): i for i, row in enumerate(rows)} if exchanges else {}
    ):
        if place >= 0:
            seconds[place] += exchange.seconds
    return seconds


def _hidden(rows: npt.NDArray[np.int64], seconds: Floats, exchanges: Sequence[Exchange]) -> Floats:
    """Seconds of collectives that overlap with the work of other instructions."""
    place = {int(row): i for i, row in enumerate(rows)} if exchanges else {}
    parts = exposed_time.hidden(exchanges, {row: float(seconds[at]) for row, at in place.items()})
    hidden = np.zeros(len(rows))
    for (at, _), part in zip(exposed_time.onto(exchanges, place), parts, strict=True):
        if at >= 0 and not np.isnan(part):
            hidden[at] = min(seconds[at], hidden[at] + part)
    return hidden


def _bounds(compute: Floats, memory: Floats, links: Floats, flops: Floats, is_near: Any) -> list[Ceiling]:
    """The ceiling of each instruction; unknown where one that may be the lowest is unknown.

    No memory is as slow as links, so those bound a collective whose bytes are on the chip.
    """
    unknown = np.isnan(memory) | np.isnan(flops) | np.isnan(links) | (is_near & ~(compute > 0) & ~(links > 0))
    linked, computed = links > np.fmax(compute, memory), compute > memory
    number = np.select([unknown, linked, computed], [3, 2, 0], 1)
    return list(np.array(Ceiling, object)[number])


def _notes(cost: Cost, peak: Floats, flops: Floats, device: Ceilings, near: Floats) -> tuple[str, ...]:
    notes = list(cost.notes)
    without = int((np.isnan(peak) & (flops > 0)).sum())
    if without and device.bandwidth:
        notes.append(wording.no_peak(device.title, without))
    if near.any():
        share = near.sum() / ((cost.moved * cost.runs)[cost.shown].sum() or 1)
        notes.append(wording.on_chip(share))
    return tuple(notes)


def units(ops: Module, platform: str) -> npt.NDArray[np.object_]:
    """Per instruction outside fusions, the dtype in which the device computes it; "" for tuples.

    It is that of the operands of its dot or convolution at JAX's default precision, else that of its result.
    """
    faster = _FASTEST.get(platform, {})
    own = np.array([_UNITS.get(kind, "") for kind in range(max(TYPES) + 1)], object)
    matrix = np.array([faster.get(kind, kind) for kind in own], object)
    kinds = ops.shapes.element_type
    computed_in = own[np.where(kinds < len(own), kinds, 0)]
    operand = ops.operands.at(0)
    rows = ops.rows(*_MATRIX)
    rows = rows[operand[rows] >= 0]
    computed_in[rows] = matrix[kinds[operand[rows]]]
    inside = np.full(len(ops.computations), "", object)
    inside[ops.computation[rows]] = computed_in[rows]
    caller, called = ops.called.owner, ops.called.values
    holds = (called >= 0) & (inside[called] != "") & ~np.isin(caller, rows)
    computed_in[caller[holds]] = inside[called[holds]]
    return computed_in


_UNITS = {number: "f8" if name.startswith("f8") else name for number, (name, _) in TYPES.items()}
"""One peak is published for all kinds of f8."""
