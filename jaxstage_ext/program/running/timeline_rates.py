"""How fast the operations of a timeline ran: FLOP/s, bytes/s, and the part of what the device can reach.

The work is that of the cost table (`program/questions/cost.py`), the time that of the timeline. Both are of one device:
an instruction that four devices run is four events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.profiling.analysis import timeline_wording as timing
from jaxstage_ext.profiling.analysis.device_work import Activity
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.cost import cost
from jaxstage_ext.program.running import rate_wording as wording
from jaxstage_ext.report.table import Column, Place, Table
from jaxstage_ext.report.unavailable import Unavailable

Row = Mapping[str, object]
NAN = float("nan")
_ABOVE = 1.005
"""Shares from here on are shown as more than 100%; what takes our lower bound misses 1 by rounding."""
_RUNS_UNKNOWN = 0


@dataclass(frozen=True)
class WorkOfRow:
    """The work of a row of a table; NaN where unknown, with the reason."""

    flops: float = 0.0
    moved: float = 0.0
    least: float = 0.0
    """The shortest time in which the device can do it, in seconds."""
    why: str = ""
    why_no_roof: str = ""


@dataclass(frozen=True)
class WorkOfOps:
    """The work of one run of each HLO instruction, by name; all unknown, with the reason, where there is no HLO."""

    by_name: Mapping[str, WorkOfRow]
    reason: str = ""

    def of(self, row: Row, runs: int | None = None) -> WorkOfRow:
        """The work of a row of `Timeline.by_op`: of as many runs as it has events, unless `runs` says how many."""
        if row["activity"] == Activity.CONTROL.value:
            return _unknown(wording.CONTROL)
        if self.reason:
            return _unknown(self.reason)
        if (work := self.by_name.get(str(row["op"]))) is None or not _is_here(row):
            return _unknown(wording.OTHER_MODULE if row["op"] else wording.NO_HLO)
        if row["activity"] == Activity.COLLECTIVE.value and not work.flops and not work.moved:
            return _unknown(wording.EXCHANGE)
        if runs == _RUNS_UNKNOWN:
            return _unknown(wording.SEVERAL_KERNELS)
        count = float(str(row["count"])) if runs is None else float(runs)
        return replace(work, flops=work.flops * count, moved=work.moved * count, least=work.least * count)


def _unknown(why: str) -> WorkOfRow:
    return WorkOfRow(NAN, NAN, NAN, why, why)


def _is_here(row: Row) -> bool:
    place = row["row"]
    return isinstance(place, int) and place >= 0


def work_of_ops(program: Program) -> WorkOfOps:
    """The work of the instructions of a program's module."""
    return program.results.once("work of ops", lambda: _read(program))


def _read(program: Program) -> WorkOfOps:
    try:
        costs = cost(program)
        work = costs.work
    except Unavailable as missing:
        return WorkOfOps({}, missing.reason)
    least, why_no_roof = _least(program, work)
    return WorkOfOps(
        {
            work.ops.names[row].decode("utf-8", "replace"): WorkOfRow(
                NAN if (why := work.unknown.get(row) or work.why.get(row, "")) else float(work.flops[row]),
                float(work.bytes_read[row] + work.bytes_written[row]),
                least.get(row, NAN),
                why,
                why_no_roof,
            )
            for row in work.shown.tolist()
        }
    )


def _least(program: Program, work: Cost) -> tuple[dict[int, float], str]:
    """The lower bound of one run of each instruction, in seconds."""
    try:
        roof = cost(program).roofline
    except Unavailable as missing:
        return {}, missing.reason
    runs = work.runs[roof.rows]
    with np.errstate(divide="ignore", invalid="ignore"):
        once = np.where(runs > 0, roof.seconds / runs, np.nan)
    return dict(zip(roof.rows.tolist(), once.tolist(), strict=True)), wording.NO_ROOF


def with_rates(program: Program, timeline: Timeline, table: Table, group: str) -> Table:
    """The table of a timeline by "op" or "line", with FLOP/s, bytes/s and the part of the roof of each row."""
    works = WorkOfOps({}, timing.without_event(timeline.unrecorded)) if timeline.unrecorded else work_of_ops(program)
    runs = _runs_of_several_kernels(timeline)
    ops = list(timeline.by_op().rows())
    of_ops = [works.of(row, runs.get((row["module"], row["op"]))) for row in ops]
    if group == "op":
        rows = of_ops
    else:
        members: dict[object, list[WorkOfRow]] = {}
        for row, work in zip(ops, of_ops, strict=True):
            if row["activity"] != Activity.CONTROL.value:
                members.setdefault(row[group], []).append(work)
        rows = [_sum(members.get(row[group], ())) for row in table.rows()]
    return _added(table, rows, timeline.recording.prediction is not None)


def _runs_of_several_kernels(timeline: Timeline) -> dict[tuple[object, object], int]:
    """How often the instructions ran that launch more than one kernel each, by module and name.

    A library call such as a convolution launches several kernels. If each of them ran as often, the call did too.
    """
    recording = timeline.recording
    events, ops = recording.events, recording.ops
    index = timeline.work.event[events.op[timeline.work.event] >= 0]
    size = max(len(recording.names), 1)
    pairs, counts = np.unique(events.op[index].astype(np.int64) * size + events.name[index], return_counts=True)
    numbers, first, kernels = np.unique(pairs // size, return_index=True, return_counts=True)
    runs: dict[tuple[object, object], int] = {}
    for op, at, many in zip(numbers.tolist(), first.tolist(), kernels.tolist(), strict=True):
        if many > 1:
            even = (counts[at : at + many] == counts[at]).all()
            module = recording.modules[ops.module[op]].name if ops.module[op] >= 0 else None
            runs[module, ops.name[op]] = int(counts[at]) if even else _RUNS_UNKNOWN
    return runs


def _sum(rows: Iterable[WorkOfRow]) -> WorkOfRow:
    rows = list(rows)
    if not rows:
        return _unknown(wording.CONTROL)
    why = next((row.why for row in rows if row.why), "")
    roof = next((row.why_no_roof for row in rows if np.isnan(row.least)), "")
    return WorkOfRow(
        sum(row.flops for row in rows),
        sum(row.moved for row in rows),
        sum(row.least for row in rows),
        wording.PARTLY + why if why and len(rows) > 1 else why,
        roof,
    )


def _added(table: Table, rows: Sequence[WorkOfRow], is_predicted: bool) -> Table:
    busy = [float(seconds) for seconds in table["busy"]]
    figures = {
        "FLOP/s": ([_over(row.flops, time) for row, time in zip(rows, busy, strict=True)], "FLOP/s"),
        "bytes/s": ([_over(row.moved, time) for row, time in zip(rows, busy, strict=True)], "B/s"),
        "of roof": ([_over(row.least, time) for row, time in zip(rows, busy, strict=True)], ""),
    }
    docs = {
        "FLOP/s": "its FLOPs, as the cost table counts them, over its busy time",
        "bytes/s": "bytes it reads and writes, as the cost table counts them, over its busy time",
        "of roof": "the shortest time in which the device can do this work, over its busy time, 0 to 1",
    }
    columns = {name: Column(values, unit, docs[name]) for name, (values, unit) in figures.items()}
    reasons: dict[Place, str] = {}
    for at, (row, time) in enumerate(zip(rows, busy, strict=True)):
        no_time = "" if time > 0 else wording.NO_TIME
        for name, value, why in (("FLOP/s", row.flops, row.why), ("bytes/s", row.moved, row.why)):
            if np.isnan(value) or no_time:
                reasons[at, name] = why or no_time or wording.NO_HLO
        if np.isnan(row.least) or no_time:
            reasons[at, "of roof"] = row.why or row.why_no_roof or no_time or wording.NO_ROOF
    is_above = np.nanmax([0.0, *columns["of roof"].values]) > _ABOVE
    above = (wording.ESTIMATE_ABOVE_ROOF if is_predicted else wording.ABOVE_ROOF,) if is_above else ()
    return replace(
        table,
        columns={**table.columns, **columns},
        reasons={**table.reasons, **reasons},
        notes=(*table.notes, *above),
    )


def _over(amount: float, seconds: float) -> float:
    return amount / seconds if seconds > 0 else NAN
