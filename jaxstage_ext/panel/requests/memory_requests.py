"""The requests of the memory view: a picture of all buffers, what is live at a moment, what the backward pass keeps."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.analysis.memory import allocation_map, memory_tables
from jaxstage_ext.analysis.memory.buffers import Kind
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.params import (
    Answer,
    BadRequest,
    Method,
    Params,
    Programs,
    integer,
    program,
    quoted,
    text,
)
from jaxstage_ext.panel.wire_form import CodedTexts, TextLines, joined, packed
from jaxstage_ext.program.questions.memory import memory as memory_of
from jaxstage_ext.report.table import Table, cell, is_number, plain

MOST_BUFFERS, MOST_POSITIONS = 200_000, 300_000
"""Most buffers drawn (the largest), and the longest schedule whose instructions are named."""
MOST_ROWS = 400
"""Most rows sent of a table."""
NOT_COMPILED = "not compiled"
_TABLES = ("arguments", "results", "constants", "advice", "checks")
_MOST_NAMED = 4
"""Arguments that a button names."""
_HIDDEN = ("row", "from", "to", "memory")
_answers: weakref.WeakKeyDictionary[Memory, Answer] = weakref.WeakKeyDictionary()
"""Pictures already made: a page that is opened again asks again."""


def _memory(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    memory = memory_of(program(programs, params), progress.heard)
    if memory not in _answers:
        _answers[memory] = _picture(memory)
    return _answers[memory]


def _picture(memory: Memory) -> Answer:
    columns, total = _columns(memory)
    result, buffers = packed(columns)
    tables, more = joined({name: _table(getattr(memory, name)) for name in _TABLES}, after=len(buffers))
    return {
        **result,
        "fit": {
            "answer": memory.fit.answer,
            "needed": memory.fit.needed,
            "room": memory.fit.room,
            "text": memory.fit.text,
        },
        "spaces": [_space(space) for space in memory.spaces if space.reserved or not space.color],
        "kinds": [kind.title for kind in Kind],
        "buffers": total,
        "notes": list(memory.notes),
        "differing": memory.differing,
        "tables": tables,
        "donate": list(memory.untried_donation[:_MOST_NAMED]),
    }, [*buffers, *more]


def _space(space: Any) -> dict[str, Any]:
    names = ("color", "name", "held", "reserved", "position", "peak")
    return {name: getattr(space, name) for name in names}


def _columns(memory: Memory) -> tuple[dict[str, Any], int]:
    """(columns of the buffers that are drawn, how many buffers there are)."""
    buffers, scheduled = memory.scheduled.buffers, memory.scheduled
    rows = np.arange(len(buffers))
    if len(rows) > MOST_BUFFERS:
        rows = np.sort(np.argsort(-buffers.size, kind="stable")[:MOST_BUFFERS])
    places = memory.places.row
    own, made = memory.lines(rows, None)
    columns: dict[str, Any] = {
        "start": buffers.start[rows].astype(np.int64),
        "end": buffers.end[rows].astype(np.int64),
        "height": allocation_map.heights(scheduled)[rows].astype(np.float64),
        "size": buffers.size[rows].astype(np.float64),
        "space": buffers.space[rows].astype(np.int64),
        "kind": buffers.kind[rows].astype(np.uint8),
        "row": made.astype(np.int64),
        "line": CodedTexts.of(line or None for line in own),
        "names": TextLines(_name(memory, row) for row in rows.tolist()),
        "order": places[scheduled.schedule.order].astype(np.int64),
    }
    if len(scheduled.schedule) <= MOST_POSITIONS:
        columns["steps"] = TextLines(
            scheduled.ops.names[row].decode("utf-8", "replace") for row in scheduled.schedule.order.tolist()
        )
    for space in memory.spaces:
        curve = memory.curve(space.color)
        at = np.flatnonzero(np.diff(curve, prepend=-1)) if len(curve) else np.zeros(0, np.int64)
        columns[f"at {space.color}"] = at
        columns[f"live {space.color}"] = curve[at].astype(np.float64)
    return columns, len(buffers)


def _name(memory: Memory, row: int) -> str:
    """The name of the argument or result in a buffer, else that of the instruction."""
    buffers = memory.scheduled.buffers
    if memory.is_given(row):
        return f"{', '.join(memory.names(row))}, {memory.why(row)}"
    own = buffers.kind[row] in (Kind.ARGUMENT, Kind.OUTPUT)
    return memory.why(row) if own else memory.title(int(buffers.value[row]))


def _table(table: Table, unknown: Sequence[str | None] | None = None) -> Answer:
    """A table as written texts, with the rows of the document and the live ranges that its rows point to.

    `unknown` says for each row what stands in place of a value that is not known.
    """
    shown = table.take(range(min(len(table), MOST_ROWS)))
    columns: dict[str, Any] = {}
    about: dict[str, dict[str, Any]] = {}
    for name, column in shown.columns.items():
        if name in ("row", "from", "to"):
            columns[name] = np.asarray(column.values, np.int64)
        elif name not in _HIDDEN:
            lacking = unknown or [None] * len(shown)
            texts = zip(column.values, lacking, strict=True)
            columns[name] = CodedTexts.of(
                lack if plain(value) is None else cell(value, column.unit) for value, lack in texts
            )
            is_figure = any(is_number(value) for value in column.values)
            about[name] = {"title": name, "hint": column.doc, "figure": is_figure}
            about[name] |= {"answer": True} if column.is_answer else {}
    result, buffers = packed(columns, about)
    return {**result, "total": len(table), "notes": list(table.notes)}, buffers


def _at(programs: Programs, params: Params) -> Answer:
    """The buffers that are live in a memory while the instruction at a position runs."""
    memory = _analysed(programs, params)
    space = integer(params, "space", 0, 1 << 30)
    if space not in (memory_space.color for memory_space in memory.spaces):
        raise BadRequest(f"this program has no memory space {space}")
    position = integer(params, "position", 0, max(len(memory.scheduled.schedule) - 1, 0))
    curve = memory.curve(space)
    live = int(curve[position]) if len(curve) else memory.space(space).held
    described, buffers = joined({"table": _table(memory.at(position, space))})
    return {"live": live, **described}, buffers


def _kept(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """What the backward pass keeps, by line; and what checkpoint policies would keep."""
    memory = _analysed(programs, params)
    policy = text(params, "policy")
    if policy not in ("", *memory_tables.POLICIES):
        raise BadRequest(f"unknown policy {quoted(policy)}; choose one of {', '.join(memory_tables.POLICIES)}")
    kept = memory.residual_arrays(policy or None)
    progress("reading the residuals under checkpoint policies")
    lines, arrays = _table(memory_tables.by_line(kept)), _table(memory_tables.table(kept))
    return _with_policies(memory, lines=lines, arrays=arrays)


def _policy(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """What the program compiled with a checkpoint policy takes, beside the others."""
    memory = _analysed(programs, params)
    policy = text(params, "policy")
    if policy not in memory_tables.POLICIES:
        raise BadRequest(f"unknown policy {quoted(policy)}; choose one of {', '.join(memory_tables.POLICIES)}")
    trial = memory.with_policy(policy, progress.heard)
    result, buffers = _with_policies(memory)
    return {"text": str(trial), **result}, buffers


def _donation(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """What the program compiled with the arguments donated takes that a suggestion names; the suggestions with it."""
    memory = _analysed(programs, params)
    if names := memory.untried_donation:
        memory.with_donation(*names, progress=progress.heard)
        _answers.pop(memory, None)
    return joined({"advice": _table(memory.advice)})


def _with_policies(memory: Memory, **tables: Answer) -> Answer:
    """Tables, the policies with them, which names those that were not compiled, and whether each was compiled."""
    table = memory.policies()
    compiled = [not math.isnan(peak) for peak in table["peak"]]
    policies = _table(table, [None if is_compiled else NOT_COMPILED for is_compiled in compiled])
    result, buffers = joined({**tables, "policies": policies})
    return {**result, "compiled": compiled}, buffers


def _analysed(programs: Programs, params: Params) -> Memory:
    """The memory that was analysed for an earlier request. Raises BadRequest where there was none."""
    analysed = memory_of.known(program(programs, params))
    if analysed is None:
        raise BadRequest("the memory has not been analysed yet; ask for it first")
    return analysed


METHODS: dict[str, Method] = {
    "memory": jobs.slow(_memory),
    "memory at": _at,
    "kept": jobs.slow(_kept),
    "policy": jobs.slow(_policy),
    "donation": jobs.slow(_donation),
}
