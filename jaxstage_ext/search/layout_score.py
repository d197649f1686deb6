"""The estimate of a layout from what Shardy makes of it.

Each matrix product and convolution takes the longer of its arithmetic at the peak of the unit that computes it and its
bytes at the bandwidth of memory, at its shapes on one device. Arguments are read once and results written once. Of what
element-wise operations move beside these, a part is taken for fused away (`MOVED`); in a loop, whose iterations cannot
be one kernel, nothing is. Collectives take the times of `analysis.collectives.interconnect`. Loops count with their
trips. What a device does not tell is unknown; layouts are ordered all the same, by the figures of a stand-in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import unit_peaks
from jaxstage_ext.analysis.cost.rules import arithmetic
from jaxstage_ext.analysis.cost.unit_peaks import Ceilings
from jaxstage_ext.ir.hlo.dot_precision import DotPrecision, Level
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind, PartitionedCollective, PartitionedModule
from jaxstage_ext.search import score_wording
from jaxstage_ext.search.layout_result import HIDDEN, CollectiveShare, LayoutEstimate
from jaxstage_ext.search.link_times import LinksOf, LinkTimes, MeshSizes

Floats = npt.NDArray[np.float64]
STAND_IN_BANDWIDTH = 800e9
STAND_IN_INTENSITY = 240.0
STAND_IN_LINK = 90e9
"""Bytes a second of memory, FLOP a byte, bytes a second of links, by which layouts are ordered where figures are
unknown: about those of a TPU v5e."""
MOVED = {"cuda": 0.4, "tpu": 0.1}
"""By platform, of the bytes that kernels of element-wise operations hand on to each other outside loops, the part that
XLA's fusions still move. In training steps of an MLP, a transformer, experts and a conv net as compiled for an H100 it
is 0.25 to 0.8, of an MLP and experts for a TPU v5e 0 to 0.2."""
_MOVED = 0.4
"""Of other platforms, whose times are unknown."""
_SHOWN = 12
"""Most collectives of an estimate that are kept apart."""


@dataclass(frozen=True)
class ScoringDevice:
    """One device of the target."""

    ceilings: Ceilings | None
    """None where nothing is known of it."""
    platform: str
    """"cpu", "tpu" or "cuda"."""
    title: str
    links_of: LinksOf


class LayoutScorer:
    """Scores layouts of one module on one device."""

    def __init__(self, module: PartitionableModule, device: ScoringDevice) -> None:
        self._module, self._device = module, device
        self._links = LinkTimes(device.links_of)
        self._trips: Floats = np.array([1 if op.trips is None else op.trips for op in module.ops], np.float64)
        self._untimed = [place for place, op in enumerate(module.ops) if op.trips is None]
        self._moved = MOVED.get(device.platform, _MOVED)
        self._whole = np.array([op.is_matmul or op.parent is not None for op in module.ops])
        """Of which operations all bytes count."""
        peaks = [self._peak(op) for op in module.ops]
        self._unknown_peaks = sorted(
            {self._dtype(op) for op, peak in zip(module.ops, peaks, strict=True) if peak is None}
        )
        bandwidth = device.ceilings.bandwidth if device.ceilings else None
        self._bandwidth = bandwidth or STAND_IN_BANDWIDTH
        self._has_bandwidth = bandwidth is not None
        stand_in = self._bandwidth * STAND_IN_INTENSITY
        self._peaks: Floats = np.array([stand_in if peak is None else peak for peak in peaks], np.float64)

    def estimate(self, partitioned: PartitionedModule) -> LayoutEstimate:
        """What a layout takes."""
        compute, memory = self._work(partitioned)
        parts = sorted(self._parts(partitioned), key=lambda part: -(part.seconds or 0.0))
        known = [part.seconds for part in parts if part.seconds is not None]
        exchanged = sum(part.bytes for part in parts)
        links = sum(known) if len(known) == len(parts) else None
        stand_in = sum(known) + sum(part.bytes for part in parts if part.seconds is None) / STAND_IN_LINK
        unknown = tuple(self._unknown(partitioned))
        is_timed = self._has_bandwidth and not self._unknown_peaks and not any(self._is_untimed(partitioned))
        work = compute + memory
        return LayoutEstimate(
            compute=compute if is_timed else None,
            memory=memory if is_timed else None,
            collectives=links,
            argument_bytes=partitioned.argument_bytes,
            exchanged_bytes=exchanged,
            cost=work + stand_in - min(work, stand_in) * HIDDEN,
            unknown=unknown,
            parts=tuple(parts[:_SHOWN]),
        )

    def _work(self, partitioned: PartitionedModule) -> tuple[float, float]:
        """Seconds of the operations that arithmetic bounds, and of those that memory bounds."""
        compute = partitioned.flops / self._peaks * self._trips
        moved = partitioned.moved / self._bandwidth * self._trips
        memory = moved * self._whole
        is_compute = compute > memory
        at_border = (partitioned.argument_bytes + partitioned.result_bytes) / self._bandwidth
        inside = max(0.0, float(moved[~self._whole].sum()) - at_border)
        return float(compute[is_compute].sum()), float(memory[~is_compute].sum()) + at_border + self._moved * inside

    def _peak(self, op: PartitionOp) -> float | None:
        """FLOP/s of the unit that computes a product; infinite for what computes none, None where it is unknown."""
        if not op.is_matmul:
            return float("inf")
        if self._device.ceilings is None:
            return None
        unit = arithmetic.product(self._dtype(op), DotPrecision(Level(op.precision)), self._device.platform)
        rate = unit_peaks.rate(unit, self._device.ceilings, self._device.platform)
        return rate.fast if np.isfinite(rate.fast) else None

    def _dtype(self, op: PartitionOp) -> str:
        return self._module.values[op.operands[0]].dtype

    def _parts(self, partitioned: PartitionedModule) -> Iterator[CollectiveShare]:
        mesh = tuple(partitioned.layout.mesh.items())
        alike: dict[tuple[CollectiveKind, tuple[str, ...], str, bool], list[PartitionedCollective]] = {}
        for one in partitioned.collectives:
            alike.setdefault((one.kind, one.axes, one.line, self._is_gradient(one)), []).append(one)
        for (kind, axes, line, is_gradient), members in alike.items():
            count = sum(1 if one.trips is None else one.trips for one in members)
            size = sum(one.bytes * (1 if one.trips is None else one.trips) for one in members)
            seconds = None if any(one.trips is None for one in members) else self._seconds(mesh, kind, axes, size)
            yield CollectiveShare(kind, axes, line, count, size, seconds, is_gradient, members[0].op)

    def _seconds(self, mesh: MeshSizes, kind: CollectiveKind, axes: tuple[str, ...], size: int) -> float | None:
        rate, _ = self._links.rate(mesh, kind, axes)
        return None if rate is None else rate * size

    def _is_gradient(self, collective: PartitionedCollective) -> bool:
        return collective.op >= 0 and "transpose(" in self._module.ops[collective.op].scope

    def _is_untimed(self, partitioned: PartitionedModule) -> Iterator[bool]:
        """Whether operations of unknown trips do anything."""
        return (bool(partitioned.flops[op] or partitioned.moved[op]) for op in self._untimed)

    def _unknown(self, partitioned: PartitionedModule) -> Iterator[str]:
        if not self._has_bandwidth:
            yield score_wording.no_bandwidth(self._device.title)
        elif self._unknown_peaks:
            yield score_wording.no_peak(self._device.title, self._unknown_peaks)
        if any(self._is_untimed(partitioned)):
            yield score_wording.unknown_trips(sorted({self._module.ops[op].line for op in self._untimed} - {""}))
        mesh = tuple(partitioned.layout.mesh.items())
        whys = {self._links.rate(mesh, one.kind, one.axes)[1] for one in partitioned.collectives}
        yield from sorted(whys - {""})
