"""The public Timeline: a recording, and where its operations stand in the source."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis import (
    busy,
    clock_wording,
    collective_waits,
    device_work,
    event_list,
    event_tables,
    gaps,
    headline,
    host_tables,
    recorded_range,
    steps,
    timeline_comparison,
    timeline_wording,
)
from jaxstage_ext.profiling.analysis.busy import DeviceTime
from jaxstage_ext.profiling.analysis.collective_waits import CollectiveWaits
from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.headline import Bound, Headline
from jaxstage_ext.profiling.analysis.host_activity import HostActivity
from jaxstage_ext.profiling.analysis.host_labels import HostLabels
from jaxstage_ext.profiling.analysis.nesting import Nesting, nest
from jaxstage_ext.profiling.chrome import chrome_writer, speedscope_writer
from jaxstage_ext.profiling.mosaic import mosaic_saved, mosaic_wording
from jaxstage_ext.profiling.mosaic.mosaic_recording import OnDeviceDetails, decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.profiling.op_places import OpPlaces, without_places
from jaxstage_ext.profiling.predictions import (
    check_wording,
    compute_gaps,
    predicted_timeline_wording,
    prediction_check,
)
from jaxstage_ext.profiling.predictions.call_times import longest_line
from jaxstage_ext.profiling.predictions.exposed_collectives import ExposedCollective, exposed_collectives, run_at_once
from jaxstage_ext.profiling.predictions.exposed_table import exposed_table
from jaxstage_ext.profiling.predictions.exposed_times import call_times
from jaxstage_ext.profiling.predictions.instruction_runs import InstructionRuns, measured_run, predicted_run
from jaxstage_ext.profiling.predictions.predicted_headline import predicted_headline
from jaxstage_ext.profiling.predictions.predicted_tables import of_prediction
from jaxstage_ext.profiling.xplane import module_runs
from jaxstage_ext.report.recording import SECOND, Events, Recording, TimeUnit
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.unavailable import Unavailable

_LINES_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Timeline:
    """What ran when, linked to source lines.

    Attributes:
      recording: the events as the profiler recorded them.
      places: where the HLO instruction of an event stands; empty where it is unknown.
      window: start and end in picoseconds, where this is a part of a timeline; None for the whole of one.
    """

    recording: Recording
    places: OpPlaces
    window: tuple[int, int] | None = field(default=None, kw_only=True)

    shown: ClassVar[Callable[[Timeline], Timeline]] = staticmethod(lambda made: made)
    """A timeline as one that shows itself in a notebook; `panel/` sets it, which this room does not know."""

    @classmethod
    def from_mosaic(
        cls,
        buffer: npt.ArrayLike,
        spec: Any,
        sm_clock: float | None = None,
        *,
        grid: Sequence[int] | None = None,
        block: Sequence[int] | None = None,
        kernel: str = "",
    ) -> Timeline:
        """The ranges that a Mosaic GPU kernel recorded on the device, by SM and warpgroup; in a notebook, a panel.

        Args:
          buffer: the words that the kernel wrote, a uint32 array.
          spec: what they were recorded with, a `ProfilerSpec` of jax.experimental.mosaic.gpu.profiler or a
            `MosaicSpec`.
          sm_clock: frequency of the SMs in hertz, such as 1.98e9; without it, times are in cycles.
          grid: sizes of the launch in blocks, which a `ProfilerSpec` does not have. Without grid and block, warpgroups
            are numbered through all blocks.
          block: sizes of the launch in threads.
          kernel: its name.

        Raises:
          UnreadableProfile: the buffer does not fit the specification, or its layout is ambiguous.
          TypeError: `spec` is neither, or one of `grid` and `block` is missing.
        """
        if not isinstance(spec, MosaicSpec):
            spec = MosaicSpec.of_buffer(spec, np.asarray(buffer).size, grid, block, kernel)
        recording = decode(buffer, spec, sm_clock)
        return cls.shown(Timeline(recording, without_places(recording)))

    @property
    def columns(self) -> Events:
        """The events as numpy columns."""
        return self.recording.events

    @property
    def events(self) -> Events:
        """The events as numpy columns, times in picoseconds."""
        return self.recording.events

    @cached_property
    def work(self) -> DeviceWork:
        """The events during which devices are busy."""
        work = device_work.read(self.recording, self.places)
        return replace(work, of_call=call_times(self.recording, work)) if self.is_predicted else work

    @cached_property
    def nesting(self) -> Nesting:
        """Which event of a lane is inside which."""
        events = self.recording.events
        return nest(events.lane, events.start, events.end)

    @cached_property
    def device_times(self) -> list[DeviceTime]:
        """How long each device is busy, and with what."""
        return busy.read(self.recording, self.work, self.window)

    @cached_property
    def _hosts(self) -> dict[int, HostActivity]:
        return {device.host: HostActivity(self.recording, device.host) for device in self.work.devices}

    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {}

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            read = getattr(event_tables, name)
            table = read(self.recording, self.places, self.work)
            table = of_prediction(table) if self.is_predicted else table
            self._tables[name] = self._without_shares(table) if self.unrecorded else table
        return self._tables[name]

    @cached_property
    def _predicted_run(self) -> InstructionRuns:
        return predicted_run(self.recording, self.places, self.work)

    def _without_shares(self, table: Table) -> Table:
        """A table whose times leave out work without an event."""
        why = timeline_wording.without_event(self.unrecorded)
        if len(table) < 2 or "share" not in table.columns:
            return replace(table, notes=(*table.notes, why))
        share = replace(table.columns["share"], values=np.full(len(table), np.nan))
        reasons = {**table.reasons, **{(row, "share"): why for row in range(len(table))}}
        return replace(table, columns={**table.columns, "share": share}, reasons=reasons, notes=(*table.notes, why))

    def by_op(self) -> Table:
        """Time by HLO instruction, the most first."""
        return self._table("by_op")

    def by_kernel(self) -> Table:
        """Time by kernel, copy or other device event, by its name, the most first."""
        return self._table("by_kernel")

    def by_line(self) -> Table:
        """Time by source line, the most first; work whose line is unknown has a row of its own."""
        return self._table("by_line")

    def by_scope(self) -> Table:
        """Time by name scope, the most first."""
        return self._table("by_scope")

    def by_kind(self) -> Table:
        """Time by sort of work (compute, copy, collective, control flow) and opcode, the most first."""
        return self._table("by_kind")

    def by_range(self) -> Table:
        """Time by range that a kernel recorded on the device, or that the user named, the most first."""
        return event_tables.by_range(self.recording)

    def gaps(self, most: int = gaps.MOST_GAPS) -> Table:
        """The longest times in which a device has nothing to run, and what the host did then.

        Of a prediction those in which it computes nothing, and the collective or copy that it waits for.
        """
        if self.is_predicted:
            found = compute_gaps.table(self.recording, self.places, self.work, self.device_times, most)
            return compute_gaps.with_what_could_hide(found, self._exposed)
        longest = gaps.longest(self.device_times, self._hosts, most)
        return gaps.table(longest, HostLabels(self.places.frames), bool(self.device_times))

    def exposed(self) -> Table:
        """One row a collective: how long nothing hides it in one call, the most first, and what could.

        "independent" is computation after it, in its computation, that neither needs its result nor hides a collective
        yet, as the graph of the module proves; "independent line" the line of most of that.
        """
        return exposed_table(self._exposed, run_at_once(self.work), self.recording.prediction)

    @cached_property
    def _exposed(self) -> list[ExposedCollective]:
        return exposed_collectives(self.recording, self.places, self.work)

    @property
    def is_predicted(self) -> bool:
        """Whether nothing ran, and its times are estimates."""
        return self.recording.prediction is not None

    def busy(self) -> Table:
        """For each device the time in which it is busy, idle, computes, copies, and exchanges data."""
        return busy.table(self.device_times)

    def steps(self) -> Table:
        """One row a step; of a profile without steps, one row a run of an XLA module."""
        return steps.table(self.recording, self.work)

    def waits(self) -> Table:
        """One row a collective of all processes, of profiles of several: who begins it last, and how long others wait.

        It has no rows where the clocks of processes are apart, or where no collective is in all profiles.
        """
        return self._waits.table()

    @cached_property
    def _waits(self) -> CollectiveWaits:
        return collective_waits.collective_waits(self.recording, self.places)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of its figures beside the headline, a sentence each."""
        prediction = self.recording.prediction
        predicted = predicted_timeline_wording.notes(prediction) if prediction is not None else ()
        return (*predicted, *mosaic_wording.notes(self.recording), *self.process_notes)

    @property
    def process_notes(self) -> tuple[str, ...]:
        """Of profiles of several processes: by which clock times are, and for which process the others wait."""
        return (*clock_wording.waits(self._waits.latest()), *clock_wording.clocks(self.recording))

    def compiles(self) -> Table:
        """What was traced, lowered or compiled during the profile."""
        return host_tables.compiles(self.recording)

    def between(self, start: float, end: float) -> Timeline:
        """The part of it from `start` to `end`, in seconds since the recording began; events are cut at both ends.

        Raises ValueError where `end` is not after `start`, and Unavailable where the events are in cycles of a clock
        that nobody gave.
        """
        self.check_times()
        window = recorded_range.window(start, end)
        return Timeline(recorded_range.between(self.recording, *window), self.places, window=window)

    def step(self, number: int) -> Timeline:
        """One step, by its row in `steps`. Raises IndexError, which says how many steps there are."""
        return self.between(*steps.bounds(self.steps(), number))

    def compare(self, other: Timeline, by: str = "line") -> Table:
        """What grew and what shrank in `other`, per step, by "line", "op", "kernel", "scope" or "kind".

        Raises ValueError where the times of the two are different quantities.
        """
        return timeline_comparison.compare(self._compared(by), other._compared(by), by)

    def _compared(self, by: str) -> timeline_comparison.Side:
        timeline_comparison.check(by)
        return timeline_comparison.side(self.recording, self.work, self._table(f"by_{by}"))

    def against(self, measured: Timeline, by: str = "op") -> Table:
        """A prediction beside a profile of the same program: seconds of one run by "op" or "line", most missed first.

        Raises ValueError where this is not a prediction or the other one is not measured, or for another group.
        """
        prediction_check.check(by)
        if not self.is_predicted or measured.is_predicted:
            raise ValueError(
                check_wording.NOT_MEASURED_EITHER if self.is_predicted else check_wording.NOT_OF_PREDICTION
            )
        own = self._predicted_run
        other = measured_run(measured.recording, measured.places, measured.work, own)
        idle = sum(time.idle.total for time in measured.device_times) / SECOND / max(other.runs, 1)
        return prediction_check.prediction_check(own, other, idle, by)

    def to_table(self) -> Table:
        """One row for each event, by lane, then start; times in seconds.

        Raises Unavailable where the events are in cycles of a clock that nobody gave.
        """
        self.check_times()
        return event_list.event_list(self.recording, self.places)

    def to_pandas(self) -> Any:
        """The events as a pandas.DataFrame, times in seconds.

        Raises ImportError, with the pip line, where pandas is missing, and Unavailable where the events are in cycles
        of a clock that nobody gave.
        """
        return self.to_table().to_pandas()

    def to_chrome(self, path: str | os.PathLike[str]) -> None:
        """Write a Chrome trace, which Perfetto (https://ui.perfetto.dev) and `jaxstage_ext.load` open.

        It is compressed where `path` ends in ".gz". Raises OSError where it cannot be written, and Unavailable where
        the events are in cycles of a clock that nobody gave.
        """
        self.check_times()
        chrome_writer.write(self.recording, self.places, path)

    def to_speedscope(self, path: str | os.PathLike[str]) -> None:
        """Write a file for https://www.speedscope.app, a profile for each lane.

        Raises OSError where it cannot be written, and Unavailable where the events are in cycles of a clock that nobody
        gave.
        """
        self.check_times()
        speedscope_writer.write(self.recording, self.places, path)

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write the words that a Mosaic GPU kernel recorded, and what they were recorded with, as an .npz file.

        `jaxstage_ext.load` and `%timeline` open it, without a clock too. Raises OSError where it cannot be written, and
        Unavailable where the timeline is not the whole profile of such a kernel.
        """
        details = self.recording.details
        if not isinstance(details, OnDeviceDetails):
            raise Unavailable(mosaic_wording.NO_WORDS)
        Path(path).expanduser().write_bytes(mosaic_saved.saved(details.words, details.spec, details.sm_clock))

    def check_times(self) -> None:
        """Raise Unavailable where the events are in cycles of a clock that nobody gave."""
        if self.recording.unit is TimeUnit.CYCLE:
            raise Unavailable(mosaic_wording.NO_TIMES)

    @cached_property
    def unrecorded(self) -> float:
        """Seconds in which programs ran on a CPU and no event says what, where they are worth a word; else 0."""
        times = self.device_times if len(self.work) else []
        unrecorded, busy = (sum(getattr(time, name).total for time in times) for name in ("unrecorded", "work"))
        return unrecorded / SECOND if unrecorded > headline.LEAST_UNRECORDED * (unrecorded + busy) else 0.0

    @cached_property
    def attributed(self) -> float:
        """The share of the device time whose source line is known, 0 to 1; NaN where nothing ran."""
        lines = self.by_line()
        known = np.array([line is not None for line in lines["line"]], bool)
        times = lines["busy" if self.is_predicted else "self"]
        total = float(times.sum())
        return float(times[known].sum()) / total if total else float("nan")

    @property
    def coverage(self) -> str:
        """How much of the profile is shown, and how much of its device time has a source line."""
        if self.is_predicted:
            return predicted_timeline_wording.coverage(len(self.work), self.attributed, bool(len(self.work)))
        kept, total = len(self.events), max(self.recording.total, len(self.events))
        return timeline_wording.coverage(kept, total, self.attributed, bool(len(self.work)), self.unrecorded)

    @cached_property
    def headline(self) -> Headline:
        """Which line takes the time, whether the devices idle, and what the host does then."""
        if (prediction := self.recording.prediction) is None:
            return self._read_headline()
        longest = longest_line(self.recording, self.places, self.work)
        made = predicted_headline(prediction, self._exposed, longest)
        return replace(self._read_headline(), predicted=made)

    def _read_headline(self) -> Headline:
        if not len(self.work):
            of_ranges = headline.of_ranges(self.by_range(), event_tables.recorders(self.recording))
            return headline.of_what_is_kept(of_ranges, self.recording.lost)
        top = headline.leading(self.by_line(), self.by_op(), self.by_kernel(), self.unrecorded)
        read = headline.read(self.device_times, self.work, top, self.attributed, self._hosts)
        inferred = event_tables.is_mostly_inferred(self.recording, self.places, self.work, read.line)
        host_line = HostLabels(self.places.frames).label(read.doing.line) or ""
        programs, _, _ = module_runs.runs(self.recording, self.work)
        count = len(steps.rows_of(self.recording)) if len(self.device_times) == 1 else 0
        often, calls = headline.repeated(programs, count)
        whole = replace(read, is_inferred=inferred, host_line=host_line, repeated=often, calls=calls)
        return headline.of_what_is_kept(whole, self.recording.lost)

    @property
    def opens_with(self) -> str:
        """The table that says most: "lines", or, where no source line is known, "ops", "kernels" or "ranges"."""
        if self.headline.bound is Bound.RANGES:
            return "ranges"
        known = {"lines": self.by_line()["line"], "ops": self.by_op()["op"]}
        named = [name for name, values in known.items() if any(value is not None for value in values)]
        return named[0] if named else "kernels" if len(self.work) else "lines"

    def __str__(self) -> str:
        tables = {"ranges": self.by_range, "lines": self.by_line, "ops": self.by_op, "kernels": self.by_kernel}
        lines = tables[self.opens_with]()
        lines = lines.take(range(min(len(lines), _LINES_SHOWN)))
        notes = [
            *timeline_wording.losses(self.recording.lost),
            *self.notes,
        ]
        return "\n".join([timeline_wording.sentence(self.headline), self.coverage, *notes, "", str(lines)])

    __repr__ = __str__
