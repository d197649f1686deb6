"""What the host does while a device has nothing to run."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.sources.source import is_user
from jaxstage_ext.profiling.analysis.intervals import Intervals, Pieces, overlap, union, union_by
from jaxstage_ext.profiling.analysis.nesting import nest
from jaxstage_ext.report.recording import NONE, EventKind, HostLine, Recording


class HostCause(enum.Enum):
    """What a host does. The first three are seen on its main thread only."""

    LINE = "runs a line of Python"
    LAUNCH = "launches work"
    WAIT = "waits"
    HOST = "is in the runtime"
    COMPILE = "compiles"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class HostDoing:
    """What the host did for most of some idle time."""

    cause: HostCause
    name: str = ""
    """Of the event."""
    line: HostLine | None = None
    """The line of Python, also where it compiles in it; None where the profile has none."""
    share: float = 0.0
    """Of the idle time, 0 to 1."""
    is_input: bool = False
    """Whether an iterator was asked for its next value for most of it."""
    is_asker: bool = False
    """Whether the line is what asks it, and not one that it runs."""


Numbers = npt.NDArray[np.int64]

_MOSTLY = 0.5
_LEAST = 0.1
"""What covers less of an idle time does not explain it."""
_MAIN = ("python", "main", "MainThread")
_ITERATOR = "builtins next"
_READY = "block_until_ready"


_CAUSES = {
    EventKind.LAUNCH: HostCause.LAUNCH,
    EventKind.WAIT: HostCause.WAIT,
    EventKind.HOST: HostCause.HOST,
}


@dataclass(frozen=True, eq=False)
class _Named:
    """The time in which events of each name go on: names, how deep they stand, and merged intervals by name."""

    names: Numbers
    depth: npt.NDArray[np.float64]
    parts: Pieces
    own: Pieces

    def covered(self, idle: Intervals) -> npt.NDArray[np.float64]:
        """How much of some time each covers, with what is inside it."""
        return _by_owner(self.parts, idle, len(self.names))

    def covered_itself(self, idle: Intervals) -> npt.NDArray[np.float64]:
        """How much of some time each covers without what is inside it."""
        return _by_owner(self.own, idle, len(self.names))


def _by_owner(parts: Pieces, idle: Intervals, size: int) -> npt.NDArray[np.float64]:
    return np.bincount(parts.owner, overlap(parts.start, parts.end, idle), size)


def _waits(name: str, line: HostLine | None) -> bool:
    """Whether an event of Python is a wait for results: a call of `block_until_ready`."""
    code = line.code if line is not None and line.code else name
    return code.endswith((_READY, f".{_READY}()")) or code.startswith((f"jax.{_READY}(", f"{_READY}("))


def _is_loop_over_data(code: str) -> bool:
    """Whether a line is the head of a loop, with nothing after it, that does not only count."""
    head = code.removeprefix("async ")
    return head.startswith("for ") and ": " not in head and " in range(" not in head


@dataclass(frozen=True, eq=False)
class HostActivity:
    """The main thread of one machine, and what compiles on it."""

    recording: Recording
    host: int

    def during(self, idle: Intervals) -> HostDoing:
        """What it does during some time: what covers at least half of it, else what covers most; at least a tenth.

        Of the lines of Python that cover half of it, the one that the others called.
        """
        if not (length := idle.total):
            return HostDoing(HostCause.UNKNOWN)
        line = self._line(idle, length)
        if (share := overlap(self._compiling.start, self._compiling.end, idle).sum() / length) >= _MOSTLY:
            return HostDoing(HostCause.COMPILE, "", line.line if line else None, float(share))
        for doing in (line, self._event(idle, length)):
            if doing is not None and doing.share >= _LEAST:
                return doing
        return HostDoing(HostCause.UNKNOWN)

    def _line(self, idle: Intervals, length: int) -> HostDoing | None:
        lines = self._lines
        covered = lines.covered(idle) / length
        if not covered.any():
            return None
        mostly = np.flatnonzero(covered >= _MOSTLY)
        if len(mostly):
            best = int(mostly[np.lexsort((-covered[mostly], -lines.depth[mostly]))[0]])
        else:
            covered = lines.covered_itself(idle) / length
            best = int(np.argmax(covered))
        name = int(lines.names[best])
        given = self.recording.host_lines.get(name)
        cause = HostCause.WAIT if _waits(self.recording.names[name], given) else HostCause.LINE
        asks = cause is HostCause.LINE and self._asks_for_input(idle, length)
        return HostDoing(cause, self.recording.names[name], given, float(covered[best]), asks, self._is_iterator(name))

    def _event(self, idle: Intervals, length: int) -> HostDoing | None:
        events = self._runtime
        covered = events.covered_itself(idle) / length
        if not covered.any():
            return None
        best = int(np.argmax(covered))
        name, kind = divmod(int(events.names[best]), 256)
        return HostDoing(_CAUSES[EventKind(kind)], self.recording.names[name], None, float(covered[best]))

    def _asks_for_input(self, idle: Intervals, length: int) -> bool:
        asks = np.array([self._is_iterator(name) for name in self._lines.names.tolist()], bool)
        parts = self._lines.parts
        own = asks[parts.owner] if len(asks) else np.zeros(0, bool)
        asking = union(parts.start[own], parts.end[own])
        return bool(overlap(asking.start, asking.end, idle).sum() >= _MOSTLY * length)

    def _is_iterator(self, name: int) -> bool:
        line = self.recording.host_lines.get(name)
        if line is None:
            return self.recording.names[name].endswith(_ITERATOR)
        return "next(" in line.code or _is_loop_over_data(line.code)

    @cached_property
    def _lines(self) -> _Named:
        """The user's lines on the main thread; all of Python where none is known to be the user's."""
        events = self.recording.events
        rows = np.flatnonzero(self._on_host & (events.kind == EventKind.PYTHON))
        own = np.array([name for name, line in self.recording.host_lines.items() if is_user(line.file)], np.int64)
        users = rows[np.isin(events.name[rows], own)]
        rows = users if len(users) else rows
        rows = rows[events.lane[rows] == self._main(events.lane[rows])]
        return self._named(rows, events.name[rows].astype(np.int64))

    @cached_property
    def _runtime(self) -> _Named:
        """What the runtime does on the main thread, by name and kind."""
        events = self.recording.events
        rows = np.flatnonzero(self._on_host & np.isin(events.kind, list(_CAUSES)))
        rows = rows[events.lane[rows] == self._main(events.lane[rows])]
        return self._named(rows, events.name[rows].astype(np.int64) * 256 + events.kind[rows])

    @cached_property
    def _compiling(self) -> Intervals:
        events = self.recording.events
        rows = self._on_host & (events.kind == EventKind.COMPILE)
        return union(events.start[rows], events.end[rows])

    @cached_property
    def _on_host(self) -> npt.NDArray[np.bool_]:
        own = np.array([lane.host == self.host for lane in self.recording.lanes], bool)
        return own[self.recording.events.lane]

    def _main(self, lanes: npt.NDArray[np.int32]) -> int:
        """The lane of the main thread among those that have events: that of the steps, by its name, or by its events.

        A lane is that of the main thread where it is called so, else where it has steps or launches work.
        """
        if not len(lanes):
            return NONE
        distinct, count = np.unique(lanes, return_counts=True)
        kinds = self.recording.events.kind
        leads = np.isin(kinds, (EventKind.STEP, EventKind.LAUNCH))
        launches = np.bincount(self.recording.events.lane[leads], minlength=len(self.recording.lanes))

        def rank(place: int) -> tuple[bool, bool, int, int]:
            lane = self.recording.lanes[distinct[place]]
            named = lane.name.startswith(_MAIN)
            return (not lane.hidden, named, int(launches[distinct[place]]), int(count[place]))

        return int(distinct[max(range(len(distinct)), key=rank)])

    def _named(self, rows: Numbers, name: Numbers) -> _Named:
        events = self.recording.events
        nesting = nest(events.lane[rows], events.start[rows], events.end[rows])
        names, number = np.unique(name, return_inverse=True)
        number = number.reshape(-1)
        count = np.maximum(np.bincount(number, minlength=len(names)), 1)
        depth = np.bincount(number, nesting.depth, len(names)) / count
        parts = union_by(number, nesting.start, nesting.end)
        own = nesting.parts
        return _Named(names, depth, parts, Pieces(number[own.owner], own.start, own.end))
