"""Which ceiling of a device each instruction meets: its matrix or vector units, or its memory.

Roofline model: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009.
A time here is a lower bound, by the maker's peaks: FLOPs by peak, bytes by bandwidth, the larger of the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import Cost
from jaxstage_ext.analysis.table import Column, Table, scaled
from jaxstage_ext.ir.hlo_ops import Operations
from jaxstage_ext.ir.hlo_shapes import TYPES

Floats = npt.NDArray[np.float64]

COMPUTE, MEMORY, INTERCONNECT, UNKNOWN = "compute", "memory", "interconnect", "unknown"
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
      rows: instructions, the longest bound first.   intensity: FLOP/B.
      seconds: lower bound of all runs, NaN unknown.
      bound: which ceiling it meets.                 unit: the dtype of the peak that is used, "" where unknown.
      row: of the HLO document, -1 none.             line: its source line, "" unknown.
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
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def shares(self) -> dict[str, float]:
        """Of the sum of all lower bounds, what each ceiling takes."""
        total = float(np.nansum(self.seconds)) or 1.0
        kinds = np.array(self.bound, object)
        return {kind: float(np.nansum(self.seconds[kinds == kind])) / total for kind in (COMPUTE, MEMORY, UNKNOWN)}

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
        return max(self.shares, key=lambda name: self.shares[name]) if np.nansum(self.seconds) else UNKNOWN

    @cached_property
    def verdict(self) -> str:
        """What bounds the program, in one sentence."""
        if self.bandwidth is None and not self.peaks:
            return f"What bounds it is unknown: the peaks of {self.title} are unknown."
        if not np.nansum(self.seconds):
            return "Nothing is computed or moved."
        kind = self.bounded_by
        if kind == UNKNOWN:
            return (
                f"What bounds it is unknown: {self.shares[kind]:.0%} of the least time that {self.title} can take goes "
                "to instructions whose FLOPs are unknown."
            )
        return (
            f"Bound by {kind}: {self.shares[kind]:.0%} of the least time that {self.title} can take for it "
            f"({scaled(float(np.nansum(self.seconds)), 's')}) goes to instructions at that ceiling."
        )

    @cached_property
    def table(self) -> Table:
        return Table(
            "roofline",
            {
                "instruction": Column(self.names),
                "bound": Column(self.bound),
                "least time": Column(self.seconds, "s", "lower bound of all runs"),
                "intensity": Column(self.intensity, "FLOP/B"),
                "FLOPs": Column(self.flops, "FLOP"),
                "bytes": Column(self.moved, "B"),
                "unit": Column(self.unit, "", "dtype of the peak"),
                "line": Column(self.line),
            },
            notes=(self.verdict, *self.notes),
        )

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__


def read(cost: Cost, device: Ceilings, platform: str) -> Roofline:
    """Hold a module's cost against a device; `platform` is "cpu", "tpu" or "cuda"."""
    rows = cost.shown
    runs = cost.runs[rows]
    flops = (cost.flops + cost.transcendentals)[rows] * runs
    moved = cost.moved[rows] * runs
    unit = units(cost.ops, platform)
    peak = np.array([device.flops.get(kind, np.nan) for kind in unit[rows]], np.float64)
    compute = flops / peak
    memory = moved / device.bandwidth if device.bandwidth else np.full(len(rows), np.nan)
    seconds = np.fmax(compute, memory)
    bound = [_bound(c, m, f) for c, m, f in zip(compute, memory, flops, strict=True)]
    order = np.argsort(-np.nan_to_num(seconds), kind="stable")
    with np.errstate(divide="ignore", invalid="ignore"):
        intensity = np.where(moved > 0, flops / moved, np.nan)
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
        _notes(cost, peak, flops, device),
    )


def _bound(compute: float, memory: float, flops: float) -> str:
    if np.isnan(memory) or np.isnan(flops):
        return UNKNOWN
    return COMPUTE if compute > memory else MEMORY


def _notes(cost: Cost, peak: Floats, flops: Floats, device: Ceilings) -> tuple[str, ...]:
    without = int((np.isnan(peak) & (flops > 0)).sum())
    if not without or not device.bandwidth:
        return cost.notes
    many = f"{without:,} instruction{'s' if without > 1 else ''}"
    alone = f"{device.title}'s peak for the dtype of {many} is unknown: there memory alone is counted."
    return (*cost.notes, alone)


def units(ops: Operations, platform: str) -> npt.NDArray[np.object_]:
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
