"""The collectives of a timeline by the time that nothing hides, and the work after them that could."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jaxstage_ext.profiling.analysis.device_work import ACTIVITIES, Activity, DeviceWork
from jaxstage_ext.profiling.analysis.intervals import union_by
from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.predictions import exposed_wording as wording
from jaxstage_ext.profiling.predictions.drawn_loops import iterations
from jaxstage_ext.profiling.predictions.exposed_times import exposed_times
from jaxstage_ext.profiling.predictions.independent_work import UnhidingWork
from jaxstage_ext.profiling.predictions.module_events import module_events
from jaxstage_ext.report.recording import NONE, SECOND, Recording

MOST_LOOKED_AT = 50
"""Collectives, those that are exposed longest, whose independent work is looked for."""


@dataclass(frozen=True)
class ExposedCollective:
    """One collective of a timeline. Times are seconds of one call, of all iterations of the loop that it is in.

    Attributes:
      op: its instruction.    line: its source line, "" unknown.    row: of the HLO document; -1 for none.
      seconds: its own.    exposed: of these in which nothing is computed.
      iterations: of the loops that it is in, 1 outside of loops; None where unknown, so that the times are of one.
      independent: of the computation after it that neither needs its result nor hides a collective; None unknown.
      independent_line: the line of most of that, "" for none.    independent_row: its row, likewise.
      why: why `independent` is unknown.    kind: "all-reduce" by its module, "" unknown.
    """

    op: str
    line: str
    row: int
    seconds: float
    exposed: float
    iterations: int | None = 1
    independent: float | None = None
    independent_line: str = ""
    independent_row: int = NONE
    why: str = ""
    kind: str = ""


def exposed_collectives(recording: Recording, places: OpPlaces, work: DeviceWork) -> list[ExposedCollective]:
    """The collectives of a timeline, one an event of a device, that of the most exposed time first."""
    exposed, times = exposed_times(work), iterations(recording, work)
    rows = np.flatnonzero(work.activity == ACTIVITIES.index(Activity.COLLECTIVE))
    order = rows[np.argsort(-(exposed[rows] * np.maximum(times[rows], 1)), kind="stable")].tolist()
    reader = _Reader(recording, places, work)
    return [reader.of(event, int(exposed[event]), int(times[event]), at) for at, event in enumerate(order)]


def run_at_once(work: DeviceWork) -> bool:
    """Whether a device runs several collectives at a time."""
    rows = np.flatnonzero(work.activity == ACTIVITIES.index(Activity.COLLECTIVE))
    start, end = work.nesting.start[rows], work.nesting.end[rows]
    covered = union_by(work.device[rows], start, end)
    return int((covered.end - covered.start).sum()) < int((end - start).sum())


class _Reader:
    def __init__(self, recording: Recording, places: OpPlaces, work: DeviceWork) -> None:
        self._recording, self._places, self._work = recording, places, work
        self._op = recording.events.op[work.event]
        lines, self._labels = line_labels(places)
        self._line = np.append(lines, NONE)[self._op]
        self._row = np.append(places.row, NONE)[self._op]
        self._modules = module_events(recording, work)

    def of(self, event: int, exposed: int, times: int, at: int) -> ExposedCollective:
        """The collective of an event of device work, the `at`-th of the list."""
        scale = max(times, 1) / SECOND
        length = int(self._work.nesting.end[event] - self._work.nesting.start[event])
        made = ExposedCollective(
            self._name(event),
            self._label(int(self._line[event])),
            int(self._row[event]),
            length * scale,
            exposed * scale,
            times or None,
        )
        return self._with_work(made, event, scale, at)

    def _name(self, event: int) -> str:
        op, recording = int(self._op[event]), self._recording
        return recording.ops.name[op] if op >= 0 else recording.names[recording.events.name[self._work.event[event]]]

    def _label(self, line: int) -> str:
        return self._labels[line] if line >= 0 else ""

    def _with_work(self, made: ExposedCollective, event: int, scale: float, at: int) -> ExposedCollective:
        op = int(self._op[event])
        module = self._modules.get(int(self._recording.ops.module[op])) if op >= 0 else None
        if module is None or module.row[event] < 0:
            return replace(made, why=wording.NO_GRAPH)
        made = replace(made, kind=module.kind(event))
        if at >= MOST_LOOKED_AT:
            return replace(made, why=wording.NOT_LOOKED_AT)
        found = module.after(event)
        if not len(found.event):
            return replace(made, independent=0.0)
        line, row = self._most(found)
        return replace(
            made, independent=int(found.seconds.sum()) * scale, independent_line=self._label(line), independent_row=row
        )

    def _most(self, found: UnhidingWork) -> tuple[int, int]:
        """(the line of most of this work, the row of its event that takes longest)."""
        lines = self._line[found.event].astype(np.int64)
        best = int(np.argmax(np.bincount(lines - NONE, found.seconds))) + NONE
        own = lines == best
        return best, int(self._row[found.event[own][np.argmax(found.seconds[own])]])
