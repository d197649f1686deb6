"""Tables of device work: by HLO instruction, kernel, source line, name scope and opcode; and of named ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.analysis import table_wording as wording
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.analysis.device_work import ACTIVITIES, DeviceWork, op_activities, op_categories
from jaxstage_ext.profiling.analysis.group_times import GroupTimes, group_times
from jaxstage_ext.profiling.analysis.line_labels import counted_frames, line_labels
from jaxstage_ext.profiling.analysis.nesting import nest
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.recording import NONE, SECOND, EventKind, LaneKind, Recording, TimeUnit
from jaxstage_ext.report.table import Column, Table

Numbers = npt.NDArray[np.int64]


def by_op(recording: Recording, places: OpPlaces, work: DeviceWork) -> Table:
    """One row an HLO instruction, that of the most busy time first."""
    times = group_times(work, recording.events.op[work.event])
    op, ops = times.group, recording.ops
    lines, labels = line_labels(places)
    modules = [module.name for module in recording.modules]
    categories, activities = op_categories(recording, places), op_activities(recording, places)
    named = {
        "op": Column(_texts(op, ops.name), "", "HLO instruction"),
        "module": Column(_texts(_at(ops.module, op), modules), "", "XLA module that it belongs to"),
        "category": Column(_texts(op, categories), "", "opcode, for a fusion with what it fuses"),
        "activity": Column(_texts(op, [activity.value for activity in activities]), "", "what sort of work it is"),
        "line": Column(_texts(_at(lines, op), labels), "", "source line"),
        "scope": Column(_texts(_at(places.scope, op), places.scopes), "", "name stack"),
    }
    rows = {"row": Column(_at(places.row, op), "", "row of the HLO document, -1 for none")}
    reasons = {(row, name): wording.NO_OP for name in named for row in np.flatnonzero(op == NONE).tolist()}
    for name, why in (("line", wording.NO_LINE), ("scope", wording.NO_SCOPE), ("module", wording.NO_MODULE)):
        reasons |= {(row, name): why for row, text in enumerate(named[name].values) if text is None and op[row] != NONE}
    return _table("ops", named, times, work, reasons, rows)


def by_kernel(recording: Recording, places: OpPlaces, work: DeviceWork) -> Table:
    """One row a kernel or copy, by its name, that of the most busy time first."""
    events = recording.events
    times = group_times(work, events.name[work.event])
    number = np.full(len(recording.names) + 1, -1, np.int64)
    number[times.group] = np.arange(len(times))
    place = number[events.name[work.event]]
    ops = [_one_of(values, recording.ops.name) for values in _values_of(place, events.op[work.event], len(times))]
    first = np.zeros(len(times), np.int64)
    first[place[::-1]] = np.arange(len(work))[::-1]
    kinds = [EventKind(int(kind)).name.lower() for kind in events.kind[work.event][first].tolist()]
    named = {
        "kernel": Column(_texts(times.group, recording.names), "", "its name on the device"),
        "kind": Column(kinds, "", "op, kernel, copy or collective"),
        "op": Column(ops, "", "the HLO instruction that it runs"),
    }
    reasons = {(row, "op"): wording.NO_OP for row, op in enumerate(ops) if op is None}
    return _table("kernels", named, times, work, reasons)


def by_line(recording: Recording, places: OpPlaces, work: DeviceWork) -> Table:
    """One row a source line, that of the most busy time first; the work whose line is unknown has a row of its own."""
    lines, labels = line_labels(places)
    group = _of_op(lines, recording.events.op[work.event])
    times = group_times(work, group)
    texts = _texts(times.group, labels)
    op_groups = _values_of(_place(times, group), recording.events.op[work.event], len(times))
    counted = counted_frames(places)
    library = [bool(_any_library(places, counted, ops)) if text is not None else None
               for text, ops in zip(texts, op_groups, strict=True)]  # fmt: skip
    inferred = [bool(places.inferred[ops[ops >= 0]].any()) if text is not None else None
                for text, ops in zip(texts, op_groups, strict=True)]  # fmt: skip
    row = [_first_row(places, ops) for ops in op_groups]
    named = {"line": Column(texts, "", "source line")}
    others = {
        "ops": Column([int((ops >= 0).sum()) for ops in op_groups], "", "HLO instructions of the line that ran"),
        "library": Column(library, "", "whether it is a line of a library, because no line of the user's made it"),
        "inferred": Column(inferred, "", "whether some link to it was derived because XLA dropped it"),
        "row": Column(row, "", "row of the HLO document, -1 for none"),
    }
    reasons = {
        (number, name): wording.NO_LINE
        for number in np.flatnonzero(times.group == NONE).tolist()
        for name in ("line", "library", "inferred")
    }
    table = _table("lines", named, times, work, reasons, others)
    return replace(table, notes=(*table.notes, wording.FUSED)) if _is_any_fused(recording, places, work) else table


def is_mostly_inferred(recording: Recording, places: OpPlaces, work: DeviceWork, line: str) -> bool:
    """Whether most of the time of a source line is of instructions whose line was inferred."""
    lines, labels = line_labels(places)
    op = recording.events.op[work.event]
    own = _of_op(lines, op) == (labels.index(line) if line in labels else NONE)
    inferred = np.append(places.inferred, False)[op]
    return bool(2 * work.self_time[own & inferred].sum() > work.self_time[own].sum()) if own.any() else False


def _is_any_fused(recording: Recording, places: OpPlaces, work: DeviceWork) -> bool:
    op = recording.events.op[work.event]
    return len(places.fused) > 0 and bool(places.fused[op[op >= 0]].any())


def by_scope(recording: Recording, places: OpPlaces, work: DeviceWork) -> Table:
    """One row a name scope, without the primitive, that of the most busy time first."""
    numbers = Numbering[str]()
    of_scope = np.array([numbers[_group(s)] for s in places.scopes] + [NONE], np.int64)
    group = _of_op(of_scope[places.scope], recording.events.op[work.event])
    times = group_times(work, group)
    named = {"scope": Column(_texts(times.group, list(numbers)), "", "name stack without the primitive")}
    unknown = np.flatnonzero(times.group == NONE).tolist()
    return _table("scopes", named, times, work, {(row, "scope"): wording.NO_SCOPE for row in unknown})


def by_kind(recording: Recording, places: OpPlaces, work: DeviceWork) -> Table:
    """One row a sort of work and opcode, that of the most busy time first."""
    numbers = Numbering[str]()
    categories = [numbers[name] for name in op_categories(recording, places)]
    category = _of_op(np.array([*categories, NONE], np.int64)[:-1], recording.events.op[work.event])
    group = (category + 1) * len(ACTIVITIES) + work.activity
    times = group_times(work, group)
    activities = [activity.value for activity in ACTIVITIES]
    named = {
        "activity": Column(_texts(times.group % len(ACTIVITIES), activities), "", "what sort of work it is"),
        "category": Column(
            _texts(times.group // len(ACTIVITIES) - 1, list(numbers)), "", "opcode, for a fusion with what it fuses"
        ),
    }
    unknown = np.flatnonzero(times.group // len(ACTIVITIES) == 0).tolist()
    return _table("kinds", named, times, work, {(row, "category"): wording.NO_OP for row in unknown})


def _table(
    name: str,
    named: Mapping[str, Column],
    times: GroupTimes,
    work: DeviceWork,
    reasons: Mapping[tuple[int, str], str],
    others: Mapping[str, Column] | None = None,
) -> Table:
    is_of_call = work.of_call is not None
    busy = int(work.of_call.sum()) if work.of_call is not None else work.busy_time
    share = times.busy / busy if busy else np.full(len(times), np.nan)
    columns = {
        **named,
        "share": Column(share, "", wording.SHARE_OF_CALL if is_of_call else wording.SHARE),
        "busy": Column(times.busy / SECOND, "s", wording.OF_CALL if is_of_call else wording.BUSY),
        "self": Column(
            times.self_time / SECOND, "s", "device-seconds without what is inside it; parallel work counts as it runs"
        ),
        "total": Column(
            times.total / SECOND, "s", "its events added up, with what is inside them; device-seconds, not a run time"
        ),
        "count": Column(times.count, "", "events", is_whole=True),
        **(others or {}),
    }
    notes = (wording.PARALLEL,) if work.is_parallel and not is_of_call else ()
    no_share = {(row, "share"): wording.NO_TIME for row in range(len(times) if not busy else 0)}
    return Table(name, columns, {**reasons, **no_share}, notes if len(times) else (wording.NO_WORK,))


def _of_op(column: npt.NDArray[np.integer], op: npt.NDArray[np.integer]) -> Numbers:
    """A column of ops for events: NONE for an event without one."""
    return np.asarray(np.append(column.astype(np.int64), NONE)[op], np.int64)


def _at(column: npt.NDArray[np.integer], op: Numbers) -> Numbers:
    return _of_op(column, op)


def _texts(number: npt.NDArray[np.integer], texts: Sequence[str]) -> list[str | None]:
    return [texts[i] if 0 <= i < len(texts) and texts[i] else None for i in number.tolist()]


def _place(times: GroupTimes, group: Numbers) -> Numbers:
    """The row of each event's group."""
    number = np.zeros(int(np.max(group, initial=NONE)) - NONE + 1, np.int64)
    number[times.group - NONE] = np.arange(len(times))
    return number[group - NONE]


def _values_of(place: Numbers, values: npt.NDArray[np.integer], size: int) -> list[Numbers]:
    """The distinct values of each row."""
    if not size:
        return []
    shifted = values.astype(np.int64) - NONE
    width = int(np.max(shifted, initial=0)) + 1
    pairs = np.unique(place * width + shifted)
    ends = np.searchsorted(pairs // width, np.arange(1, size))
    return [part % width + NONE for part in np.split(pairs, ends)]


def _one_of(values: Numbers, names: Sequence[str]) -> str | None:
    known = values[values >= 0].tolist()
    if not known:
        return None
    return names[known[0]] if len(known) == 1 else wording.several(names[known[0]], len(known))


def _any_library(places: OpPlaces, counted: npt.NDArray[np.integer], ops: Numbers) -> Any:
    frames = counted[ops[ops >= 0]]
    return places.frames.in_library[frames[frames >= 0]].any()


def _first_row(places: OpPlaces, ops: Numbers) -> int:
    rows = places.row[ops[ops >= 0]]
    known = rows[rows >= 0].tolist()
    return min(known) if known else NONE


def _group(scope: str) -> str:
    return scope.rpartition("/")[0]


def by_range(recording: Recording) -> Table:
    """One row a name, that of the most self time first. Ranges of warps or warpgroups count as often as they run."""
    events = recording.events
    rows = _once(recording, np.flatnonzero(events.kind == EventKind.RANGE))
    nesting = nest(events.lane[rows], events.start[rows], events.end[rows])
    names, number = np.unique(events.name[rows], return_inverse=True)
    number = number.reshape(-1)
    counts = np.bincount(number, minlength=len(names))
    own = np.bincount(number, nesting.self_time, len(names))
    total = np.bincount(number, events.duration[rows], len(names))
    lanes = np.unique(np.stack([number, events.lane[rows]]), axis=1)[0]
    order = np.argsort(-own, kind="stable")
    is_time = recording.unit is TimeUnit.PICOSECOND
    scale, unit = (SECOND, "s") if is_time else (1, "cycles")
    whole = own.sum()
    columns = {
        "range": Column([recording.names[name] for name in names[order].tolist()], "", "its name"),
        "share": Column((own / whole if whole else np.full(len(names), np.nan))[order], "", "of the self time of all"),
        "self": Column((own / scale)[order], unit, "without the ranges inside it, added up over lanes"),
        "total": Column((total / scale)[order], unit, "with the ranges inside it, added up over lanes"),
        "count": Column(counts[order], "", "ranges", is_whole=True),
        "lanes": Column(np.bincount(lanes, minlength=len(names))[order], "", "warps, warpgroups or threads"),
    }
    reasons = {(row, "share"): wording.NO_TIME for row in range(len(names) if not whole else 0)}
    notes = () if len(names) else (wording.NO_RANGES,)
    return Table("ranges", columns, reasons, (*notes, *timeline_wording.losses(recording.lost)))


def _once(recording: Recording, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The ranges without those by which a device repeats what the host names, for the time of its work on it."""
    lanes = recording.events.lane[rows]
    on_host = np.array([lane.device == NONE for lane in recording.lanes], bool)[lanes]
    repeats = np.array([lane.kind is LaneKind.STEPS and lane.device != NONE for lane in recording.lanes], bool)[lanes]
    named = np.isin(recording.events.name[rows], recording.events.name[rows[on_host]])
    return rows[~(repeats & named)]


def recorders(recording: Recording) -> int:
    """How many warps or warpgroups recorded ranges on the device."""
    on_device = np.array([lane.kind is LaneKind.ON_DEVICE for lane in recording.lanes], bool)
    used = np.unique(recording.events.lane)
    return int(on_device[used].sum()) if len(used) else 0
