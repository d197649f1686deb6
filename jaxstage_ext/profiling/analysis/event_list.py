"""The events of a timeline as a table, for pandas and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.profiling.analysis.line_labels import line_labels
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.report.recording import NONE, SECOND, EventKind, Recording
from jaxstage_ext.report.table import Column, Table


def event_list(recording: Recording, places: OpPlaces) -> Table:
    """One row for each event, by lane, then start. None where an event has no such thing, or it is unknown."""
    events, lanes, ops = recording.events, recording.lanes, recording.ops
    codes, labels = line_labels(places)
    hosts = _column([recording.hosts[lane.host] for lane in lanes], events.lane)
    several = {"host": Column(hosts, doc="machine whose clock it is")} if len(recording.hosts) > 1 else {}
    return Table(
        "events",
        {
            "name": Column(_column(recording.names, events.name), doc="its name"),
            "kind": Column(_column([kind.name.lower() for kind in EventKind], events.kind), doc="what it is"),
            "start": Column(events.start / SECOND, "s", "since the recording began"),
            "duration": Column(events.duration / SECOND, "s", "0 for an instant"),
            **several,
            "group": Column(_column([lane.group for lane in lanes], events.lane), doc="device or process"),
            "lane": Column(_column([lane.name for lane in lanes], events.lane), doc="stream or thread"),
            "device": Column(_numbers(events.device, NONE), doc="ordinal of its device", is_whole=True),
            "module": Column(_column(_modules(recording), events.op), doc="XLA module"),
            "op": Column(_column(ops.name, events.op), doc="HLO instruction"),
            "line": Column(_column(labels, _through(codes, events.op)), doc="source line"),
            "scope": Column(_column(places.scopes, _through(places.scope, events.op)), doc="name scope"),
            "run": Column(_numbers(events.run, NONE), doc="execution of the module, from 0", is_whole=True),
            "correlation": Column(_numbers(events.correlation, 0), doc="joins a launch with its work", is_whole=True),
        },
    )


def _modules(recording: Recording) -> list[str | None]:
    named = [module.name for module in recording.modules]
    return [named[module] if module >= 0 else None for module in recording.ops.module.tolist()]


def _column(texts: Sequence[str | None], codes: Any) -> Any:
    """The text of each code; None for a negative one."""
    values = np.array([*texts, None], object)
    return values[np.where((codes >= 0) & (codes < len(texts)), codes, len(texts))]


def _through(codes: Any, rows: Any) -> Any:
    """The code of the row of each; NONE for a negative row."""
    padded = np.append(codes, NONE)
    return padded[np.where((rows >= 0) & (rows < len(codes)), rows, len(codes))]


def _numbers(values: Any, absent: int) -> Any:
    if not (values == absent).any():
        return values
    numbers = values.astype(object)
    numbers[values == absent] = None
    return numbers
