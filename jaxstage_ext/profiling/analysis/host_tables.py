"""Tables of what the host did: tracing and compiling."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.profiling.analysis import timeline_wording as wording
from jaxstage_ext.profiling.analysis.nesting import nest
from jaxstage_ext.report.recording import SECOND, EventKind, Recording
from jaxstage_ext.report.table import Column, Table


def compiles(recording: Recording) -> Table:
    """One row an event of tracing, lowering or compiling, in the order of time."""
    events = recording.events
    rows = np.flatnonzero(events.kind == EventKind.COMPILE)
    nesting = nest(events.lane[rows], events.start[rows], events.end[rows])
    order = np.lexsort((nesting.depth, events.start[rows]))
    ordered = rows[order]
    columns = {
        "event": Column([recording.names[name] for name in events.name[ordered].tolist()], "", "what was done"),
        "thread": Column([recording.lanes[lane].name for lane in events.lane[ordered].tolist()], "", "host thread"),
        "start": Column(events.start[ordered] / SECOND, "s", "since the recording began"),
        "total": Column(events.duration[ordered] / SECOND, "s", "with what is inside it"),
        "self": Column(nesting.self_time[order] / SECOND, "s", "without what is inside it"),
        "depth": Column(nesting.depth[order], "", "compile events that it is inside"),
    }
    return Table("compiles", columns, notes=() if len(rows) else (wording.NO_COMPILES,))
