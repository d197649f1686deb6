"""The ceiling of a device that limits each instruction: its matrix or vector units, its memory, or its links.

Roofline model: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009.
A time here is a lower bound by published peaks: the largest of what each unit takes for its operations, bytes by memory
bandwidth, and bytes sent by link bandwidth. Where something is unknown there is a range, and a verdict only where no
value of what is unknown could overturn it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.collectives.exposed_time import Exchange
from jaxstage_ext.analysis.cost import async_copies, bound_verdict, compute_times
from jaxstage_ext.analysis.cost import cost_wording as wording
from jaxstage_ext.analysis.cost.ceilings import BoundDecision, Ceiling, Doubt, DoubtReason, Outcome
from jaxstage_ext.analysis.cost.compute_times import ComputeTimes
from jaxstage_ext.analysis.cost.instruction_times import InstructionTimes
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.rules.arithmetic import Unit, UnitKind
from jaxstage_ext.analysis.cost.unit_peaks import Ceilings
from jaxstage_ext.report.table import Column, Table

Floats = npt.NDArray[np.float64]

UNKNOWN = Ceiling.UNKNOWN
_ON_CHIP_SPEEDUP = 10
"""How many times faster than a TPU's HBM its VMEM is at least: "How to Scale Your Model", part 2, gives about 22."""


@dataclass(frozen=True, eq=False)
class Roofline:
    """The instructions of a module under the ceilings of one device."""

    title: str
    peaks: Mapping[str, float]
    """FLOP/s by unit."""
    bandwidth: float | None
    rows: npt.NDArray[np.int64]
    """Instructions, the largest lower bound first."""
    names: list[str]
    intensity: Floats
    """FLOP/B of the device's memory; of memory on the chip where only that is used."""
    flops: Floats
    moved: Floats
    """All bytes."""
    seconds: Floats
    """Lower bound of all runs, NaN unknown. hidden: of these, the time of a collective or an asynchronous copy that
    other work hides, or that lies before the program."""
    bound: list[Ceiling]
    """The ceiling that limits it, UNKNOWN where something unknown may."""
    unit: list[str]
    """The matrix or vector unit that takes longest, with its dtype and its passes, "" unknown."""
    line: list[str]
    """Its source line, "" unknown."""
    row: npt.NDArray[np.int64]
    """Of the HLO document, -1 none."""
    near: Floats
    """Of these, bytes on the chip."""
    host: Floats
    """Of these, bytes in the host's memory."""
    hidden: Floats
    decision: BoundDecision
    """What bounds the program."""
    reasons: tuple[DoubtReason, ...] = ()
    """What has to be known to say so, where it is not decided."""
    notes: tuple[str, ...] = field(default=())
    is_measured: bool = False
    """Whether the ceilings were measured or set by hand, and are not the vendor's."""
    caches: float | None = None
    """Their bandwidth in B/s, which bounds instructions that fit in them; None where it is unknown."""
    how_to_measure: str = ""
    """How the user can measure ceilings that are unknown; "" where they cannot."""
    measured: Floats = field(default_factory=lambda: np.zeros(0))
    """Seconds of all runs in one run of the module, by a profile, NaN unknown; empty where nothing was."""

    @property
    def total(self) -> float:
        """The lower bound of the program's time in seconds, as far as it is known."""
        return self.decision.seconds

    @property
    def shares(self) -> dict[Ceiling, float]:
        """The share of the lower bound that the instructions of each ceiling take."""
        return self.decision.shares

    @cached_property
    def attainable(self) -> Floats:
        """FLOP/s that each instruction can reach under its ceiling; NaN where it computes nothing or where unknown."""
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = self.flops / self.seconds
        return np.where((self.flops > 0) & (self.intensity > 0) & np.isfinite(speed), speed, np.nan)

    @cached_property
    def achieved(self) -> Floats:
        """FLOP/s that each instruction was measured to reach; NaN where it computes nothing or was not measured."""
        if not len(self.measured):
            return np.full(len(self.rows), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = self.flops / self.measured
        return np.where((self.flops > 0) & (self.intensity > 0) & np.isfinite(speed), speed, np.nan)

    @cached_property
    def ridges(self) -> dict[str, float]:
        """Per unit, the intensity in FLOP/B at which memory and compute take equally long; empty if unknown."""
        return {kind: peak / self.bandwidth for kind, peak in self.peaks.items()} if self.bandwidth else {}

    @cached_property
    def left_out(self) -> str:
        """Which instructions a chart cannot show, and why; "" where it shows all."""
        nothing = int(((self.flops == 0) | (self.intensity == 0)).sum())
        unknown = int(np.isnan(self.attainable).sum()) - nothing
        return wording.left_out(nothing, unknown)

    @property
    def bounded_by(self) -> Ceiling:
        """The ceiling that takes most of the time, whatever is unknown; UNKNOWN where that is not decided."""
        return self.decision.ceiling if self.outcome is Outcome.BOUND else UNKNOWN

    @cached_property
    def outcome(self) -> Outcome:
        """Whether it is known what bounds the program, and why not."""
        if self.bandwidth is None and not self.peaks:
            return Outcome.NO_PEAKS
        if any(reason.doubt is Doubt.LINK for reason in self.reasons):
            return Outcome.NO_LINK_SPEED
        if self.decision.ceiling is not UNKNOWN:
            return Outcome.BOUND
        return Outcome.UNKNOWN_WORK if self.reasons else Outcome.NO_WORK

    @cached_property
    def verdict(self) -> str:
        """What bounds the program, in one sentence."""
        return wording.verdict(
            self.outcome, self.decision, self.title, self.reasons, self.is_measured, self.how_to_measure
        )

    @cached_property
    def table(self) -> Table:
        return Table(
            "roofline",
            {
                "instruction": Column(self.names),
                "bound": Column([ceiling.value for ceiling in self.bound]),
                "lower bound": Column(self.seconds, "s", "of the time of all runs"),
                "hidden": Column(self.hidden, "s", "of these, the time of a collective or copy that other work hides"),
                "intensity": Column(self.intensity, "FLOP/B"),
                "FLOPs": Column(self.flops, "FLOP"),
                "bytes": Column(self.moved, "B"),
                "on chip": Column(self.near, "B", "of these, in memory on the chip"),
                **({"host": Column(self.host, "B", "of these, in the host's memory")} if self.host.any() else {}),
                "unit": Column(self.unit, "", "the unit whose peak is used"),
                "line": Column(self.line),
                **self._measured_columns,
            },
            self._reasons,
            notes=(self.verdict, *self.notes),
            adds_up=("lower bound", "hidden", "FLOPs", "bytes", "on chip", "host", "time"),
        )

    @property
    def _measured_columns(self) -> dict[str, Column]:
        if not len(self.measured):
            return {}
        return {
            "time": Column(self.measured, "s", "measured: device time of one run of the module"),
            "achieved": Column(self.achieved, "FLOP/s", "measured"),
        }

    @property
    def _reasons(self) -> dict[tuple[int, str], str]:
        times = np.flatnonzero(np.isnan(self.measured)).tolist()
        rates = np.flatnonzero(np.isnan(self.achieved)).tolist() if len(self.measured) else []
        reasons = {(row, "time"): wording.NO_EVENT for row in times}
        return reasons | {(row, "achieved"): wording.NO_RATE for row in rates}

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__


class _Elsewhere(NamedTuple):
    """Bytes of each instruction that are not in the device's own memory, per run: on the chip, and the host's."""

    near: Floats
    host: Floats


def read(cost: Cost, device: Ceilings, platform: str, exchanges: Sequence[Exchange] = ()) -> Roofline:
    """The roofline of a module on a device; `platform` is "cpu", "tpu" or "cuda"."""
    rows = cost.shown
    near = cost.near * (platform == "tpu") if len(cost.near) else np.zeros(len(cost.ops))
    host = cost.host * (platform != "cpu") if len(cost.host) else np.zeros(len(cost.ops))
    computed = compute_times.read(cost, device, platform)
    times = _times(cost, device, computed, _Elsewhere(near, host), exchanges)
    decision = bound_verdict.verdict(cost, times)

    def total(figures: Floats) -> Floats:
        return cost.total(figures)[rows]

    seconds, flops, moved = total(times.least), total(cost.flops + cost.transcendentals), total(cost.moved)
    order = np.argsort(-np.nan_to_num(seconds), kind="stable")
    shown, bounds = rows[order], times.bounds()
    with np.errstate(divide="ignore", invalid="ignore"):
        elsewhere = total(near + host)
        far = np.where(moved > elsewhere, moved - elsewhere, moved)
        intensity = np.where(moved > 0, flops / far, np.nan)
    return Roofline(
        title=device.title,
        peaks=_peaks(device, computed),
        bandwidth=device.bandwidth,
        rows=shown,
        names=[cost.ops.names[row].decode() for row in shown],
        intensity=intensity[order],
        flops=flops[order],
        moved=moved[order],
        seconds=seconds[order],
        bound=[bounds[row] for row in shown],
        unit=[str(computed.unit[row] or "") for row in shown],
        line=[cost.lines[row] for row in shown],
        row=cost.places.row[shown],
        near=total(near)[order],
        host=total(host)[order],
        hidden=total(times.hidden)[order],
        decision=decision,
        reasons=bound_verdict.open_questions(cost, times, computed, decision.doubts, exchanges),
        notes=_notes(cost, near, host, device),
        is_measured=device.measured,
        caches=device.cache_bandwidth if device.cache else None,
    )


def _times(
    cost: Cost, device: Ceilings, computed: ComputeTimes, elsewhere: _Elsewhere, exchanges: Sequence[Exchange]
) -> InstructionTimes:
    """The times of all instructions, per run."""
    rows, n, (near, host) = cost.shown, len(cost.ops), elsewhere
    runs = np.maximum(cost.runs, 1e-300)
    links, hidden = np.zeros(n), np.zeros(n)
    links[rows] = _links(rows, exchanges) / runs[rows]
    memory = (cost.moved - near - host) / _bandwidths(cost.moved, device)
    times = InstructionTimes(
        compute=computed.least,
        peak_open=computed.peak_open,
        function_open=computed.function_open,
        flops_open=computed.unknown,
        memory=memory,
        links=np.nan_to_num(links),
        links_open=np.isnan(links),
        on_chip=near / ((device.bandwidth or np.nan) * _ON_CHIP_SPEEDUP) if near.any() else np.zeros(n),
        hidden=hidden,
        host_open=host > 0,
    )
    hidden[rows] = _hidden(rows, (times.least * runs)[rows], exchanges) / runs[rows]
    hidden += async_copies.hidden(async_copies.read(cost.ops), times.least * runs, memory * runs) / runs
    return times


def _bandwidths(moved: Floats, device: Ceilings) -> Floats:
    """The bandwidth that bounds each instruction: that of the caches where what it moves fits in them."""
    whole = np.full(len(moved), device.bandwidth or np.nan)
    if device.cache is None or device.cache_bandwidth is None:
        return whole
    return np.where(moved <= device.cache, np.fmax(whole, device.cache_bandwidth), whole)


def _peaks(device: Ceilings, computed: ComputeTimes) -> dict[str, float]:
    """FLOP/s of the matrix units, and of the other units that the program uses and whose peak is known."""
    peaks = {str(Unit(UnitKind.MATRIX, dtype)): peak for dtype, peak in device.flops.items()}
    used = {
        str(unit): rate.fast
        for unit, rate in computed.rates.items()
        if rate.is_known and unit.kind is not UnitKind.FUNCTION
    }
    vector = {str(Unit(UnitKind.VECTOR, dtype)): device.vector[dtype] for dtype in ("f32",) if dtype in device.vector}
    return peaks | vector | used


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


def _notes(cost: Cost, near: Floats, host: Floats, device: Ceilings) -> tuple[str, ...]:
    notes = list(cost.notes)
    if device.measured:
        notes.append(wording.MEASURED)
    if device.cache and device.cache_bandwidth:
        notes.append(wording.in_cache(device.cache, device.cache_bandwidth))
    if near.any():
        notes.append(wording.on_chip(cost.near_share))
    if host.any():
        notes.append(wording.in_host_memory(cost.host_bytes))
    return tuple(notes)
