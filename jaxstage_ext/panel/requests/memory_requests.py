"""The requests of the memory view: a picture of all buffers, what is live at a moment, what the backward pass keeps."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.memory import allocation_map, memory_tables
from jaxstage_ext.analysis.memory.buffers import Kind
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.pack import pack
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
from jaxstage_ext.program.questions.memory import memory as memory_of
from jaxstage_ext.report.table import Table, cell, is_number

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
    described, buffers = [], []
    for name, column in columns.items():
        described.append({"name": name, "dtype": column.dtype.str.lstrip("<|")})
        buffers.append(pack(np.ascontiguousarray(column).tobytes()))
    return {
        "fit": {
            "answer": memory.fit.answer,
            "needed": memory.fit.needed,
            "room": memory.fit.room,
            "text": memory.fit.text,
        },
        "spaces": [_space(space) for space in memory.spaces if space.reserved or not space.color],
        "kinds": [kind.title for kind in Kind],
        "length": len(memory.scheduled.schedule),
        "buffers": total,
        "notes": list(memory.notes),
        "differing": memory.differing,
        "tables": {name: _table(getattr(memory, name)) for name in _TABLES},
        "donate": list(memory.untried_donation[:_MOST_NAMED]),
        "columns": described,
    }, buffers


def _space(space: Any) -> dict[str, Any]:
    names = ("color", "name", "held", "reserved", "position", "peak")
    return {name: getattr(space, name) for name in names}


def _columns(memory: Memory) -> tuple[dict[str, npt.NDArray[Any]], int]:
    """(columns of the buffers that are drawn, how many buffers there are)."""
    buffers, scheduled = memory.scheduled.buffers, memory.scheduled
    rows = np.arange(len(buffers))
    if len(rows) > MOST_BUFFERS:
        rows = np.sort(np.argsort(-buffers.size, kind="stable")[:MOST_BUFFERS])
    places = memory.places.row
    own, made = memory.lines(rows, None)
    labels, line = _numbered(own)
    columns: dict[str, npt.NDArray[Any]] = {
        "start": buffers.start[rows].astype("<i4"),
        "end": buffers.end[rows].astype("<i4"),
        "height": allocation_map.heights(scheduled)[rows].astype("<f8"),
        "size": buffers.size[rows].astype("<f8"),
        "space": buffers.space[rows].astype("<i4"),
        "kind": buffers.kind[rows].astype(np.uint8),
        "row": made.astype("<i4"),
        "line": line.astype("<i4"),
        "lines": _text(labels),
        "names": _text(_name(memory, row) for row in rows.tolist()),
        "order": places[scheduled.schedule.order].astype("<i4"),
    }
    if len(scheduled.schedule) <= MOST_POSITIONS:
        columns["steps"] = _text(
            scheduled.ops.names[row].decode("utf-8", "replace") for row in scheduled.schedule.order.tolist()
        )
    for space in memory.spaces:
        curve = memory.curve(space.color)
        at = np.flatnonzero(np.diff(curve, prepend=-1)) if len(curve) else np.zeros(0, np.int64)
        columns[f"at {space.color}"] = at.astype("<i4")
        columns[f"live {space.color}"] = curve[at].astype("<f8")
    return columns, len(buffers)


def _numbered(own: list[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """(source lines, for each buffer which of them; -1 for none)."""
    labels = dict.fromkeys(filter(None, own))
    number = {label: i for i, label in enumerate(labels)}
    return list(labels), np.array([number.get(label, -1) for label in own], np.int64)


def _name(memory: Memory, row: int) -> str:
    """The name of the argument or result in a buffer, else that of the instruction."""
    buffers = memory.scheduled.buffers
    if memory.is_given(row):
        return f"{', '.join(memory.names(row))}, {memory.why(row)}"
    own = buffers.kind[row] in (Kind.ARGUMENT, Kind.OUTPUT)
    return memory.why(row) if own else memory.title(int(buffers.value[row]))


def _text(lines: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(line.replace("\n", " ") for line in lines).encode("utf-8", "replace"), np.uint8)


def _table(table: Table) -> dict[str, Any]:
    """A table as text, with the rows of the document and the live ranges that its rows point to."""
    shown = table.take(range(min(len(table), MOST_ROWS)))
    named = {name: column for name, column in shown.columns.items() if name not in _HIDDEN}
    return {
        "columns": [
            {"name": name, "hint": column.doc, "number": any(is_number(value) for value in column.values)}
            for name, column in named.items()
        ],
        "rows": [[_cell(column.values[i], column.unit) for column in named.values()] for i in range(len(shown))],
        "places": [int(row) for row in shown["row"]] if "row" in shown.columns else [],
        "lives": [[int(a), int(b)] for a, b in zip(shown["from"], shown["to"], strict=True)]
        if "from" in shown.columns
        else [],
        "total": len(table),
        "notes": list(table.notes),
    }


def _cell(value: Any, unit: str) -> str:
    return ("yes" if value else "no") if isinstance(value, bool | np.bool_) else cell(value, unit)


def _at(programs: Programs, params: Params) -> Answer:
    """The buffers that are live in a memory while the instruction at a position runs."""
    memory = _analysed(programs, params)
    space = integer(params, "space", 0, 1 << 30)
    if space not in (memory_space.color for memory_space in memory.spaces):
        raise BadRequest(f"this program has no memory space {space}")
    position = integer(params, "position", 0, max(len(memory.scheduled.schedule) - 1, 0))
    curve = memory.curve(space)
    live = int(curve[position]) if len(curve) else memory.space(space).held
    return {"live": live, "table": _table(memory.at(position, space))}, []


def _kept(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """What the backward pass keeps, by line; and what checkpoint policies would keep."""
    memory = _analysed(programs, params)
    policy = text(params, "policy")
    if policy not in ("", *memory_tables.POLICIES):
        raise BadRequest(f"unknown policy {quoted(policy)}; choose one of {', '.join(memory_tables.POLICIES)}")
    kept = memory.residual_arrays(policy or None)
    progress("reading the residuals under checkpoint policies")
    return {
        "lines": _table(memory_tables.by_line(kept)),
        "arrays": _table(memory_tables.table(kept)),
        **_policies(memory),
    }, []


def _policy(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """What the program compiled with a checkpoint policy takes, beside the others."""
    memory = _analysed(programs, params)
    policy = text(params, "policy")
    if policy not in memory_tables.POLICIES:
        raise BadRequest(f"unknown policy {quoted(policy)}; choose one of {', '.join(memory_tables.POLICIES)}")
    trial = memory.with_policy(policy, progress.heard)
    return {"text": str(trial), **_policies(memory)}, []


def _donation(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """What the program compiled with the arguments donated takes that a suggestion names; the suggestions with it."""
    memory = _analysed(programs, params)
    if names := memory.untried_donation:
        memory.with_donation(*names, progress=progress.heard)
        _answers.pop(memory, None)
    return {"advice": _table(memory.advice)}, []


def _policies(memory: Memory) -> dict[str, Any]:
    """The policies as a table, which names those that were not compiled, and whether each of its rows was compiled."""
    table = memory.policies()
    compiled = [not math.isnan(peak) for peak in table["peak"]]
    shown = _table(table)
    for cells, is_compiled in zip(shown["rows"], compiled, strict=True):
        cells[:] = [NOT_COMPILED if not is_compiled and cell == "unknown" else cell for cell in cells]
    return {"policies": shown, "compiled": compiled}


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
