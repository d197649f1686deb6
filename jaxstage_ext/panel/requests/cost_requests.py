"""The requests that the cost view makes: what bounds the program, the ledger, instructions, groups, the roofline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost import cost_wording, equations
from jaxstage_ext.analysis.cost.equations import Equations
from jaxstage_ext.analysis.cost.module_cost import GROUPS, Cost
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.pack import pack
from jaxstage_ext.panel.params import Answer, BadRequest, Params, Programs
from jaxstage_ext.program.questions import ledger
from jaxstage_ext.program.questions.cost import Costs, cost
from jaxstage_ext.program.questions.memory import memory as memory_of
from jaxstage_ext.program.running import measured_columns
from jaxstage_ext.report.numbering import numbered
from jaxstage_ext.report.table import Table, plain

MEASURES = ("FLOPs", "bytes")
MEMORY = "memory"
_KINDS = {"f": "f8", "i": "i4"}
_UNITS = {
    "FLOPs": "FLOP",
    "transcendentals": "",
    "bytes moved": "B",
    "estimated seconds": "s",
    ledger.TIME_OF_A_RUN: "s",
}


def _costs(programs: Programs, params: Params, progress: jobs.JobProgress) -> Costs:
    """The `Costs` that are asked about. Raises BadRequest, in the user's words, where nothing was compiled."""
    progress("counting")
    costs = cost(given.program(programs, params))
    _ = costs.work
    return costs


def _equations(programs: Programs, params: Params, progress: jobs.JobProgress) -> Equations:
    """The jaxpr's equations. Raises BadRequest, in the user's words, where JAX traced none."""
    progress("counting")
    return cost(given.program(programs, params)).equations


def _get_ledger(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    costs = _costs(programs, params, progress)
    work, roof = costs.work, costs.roofline
    return {
        "verdict": roof.verdict,
        "bound": roof.bounded_by,
        "shares": roof.shares,
        "device": roof.title,
        "flops": work.total_flops,
        "bytes": work.total_bytes,
        "flops_text": cost_wording.work(work.flops_range, "FLOP"),
        "bytes_text": cost_wording.work(work.bytes_range, "B"),
        "open": _open(work),
        "instructions": len(work.shown),
        "unknown": len(work.why),
        "unknown_share": work.unknown_share,
        "ledger": _ledger(costs.ledger),
    }, []


def _open(work: Cost) -> str:
    """Why the figures are ranges, and how rows and totals count branches; "" where they are figures."""
    why = cost_wording.work_reasons(work.flops_range, "FLOP") or cost_wording.work_reasons(work.bytes_range, "B")
    return f"{why}. {cost_wording.ALL_BRANCHES}" if why and work.lists_branches else why


def _ledger(table: Table) -> dict[str, Any]:
    """The columns that have something to say: what was not measured yet has no column."""
    names = [name for name in table.columns if name and (name != "measured" or _any_known(table[name]))]
    rows = []
    for row, of in enumerate(table[""]):
        values = [plain(table[name][row]) for name in names]
        reasons = [table.reasons.get((row, name), "") for name in names]
        rows.append({"name": of, "unit": _UNITS.get(of, ""), "values": values, "reasons": reasons})
    columns = [{"name": name, "hint": table.columns[name].doc} for name in names]
    return {"columns": columns, "rows": rows, "notes": list(table.notes)}


def _any_known(values: Sequence[Any]) -> bool:
    return any(plain(value) is not None for value in values)


def _get_cost(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """All instructions of the table, the most bytes first, as columns; what repeats is numbered."""
    costs = _costs(programs, params, progress)
    work: Cost = costs.work
    progress("listing")
    rows = work.shown[np.argsort(-(work.moved * work.runs)[work.shown], kind="stable")]
    return _listed(work, rows, _times(costs, rows))


def _times(costs: Costs, rows: Any) -> dict[str, Any]:
    """What the newest profile measured of these instructions; nothing where there is none."""
    if (times := costs.measured) is None:
        return {}
    flops, moved = measured_columns.rates(costs.work, times.seconds)
    roofs = measured_columns.of_roof(times.seconds, costs.roofline)
    columns = {"time": times.seconds, "flop_rate": flops, "byte_rate": moved, "of_roof": roofs}
    return {name: column[rows] for name, column in columns.items()}


def _get_members(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The instructions that another holds, in their order."""
    work: Cost = _costs(programs, params, progress).work
    name = given.text(params, "instruction").encode("utf-8", "replace")
    if name not in work.ops.names:
        raise BadRequest(f"there is no instruction {given.quoted(name.decode('utf-8', 'replace'))}")
    return _listed(work, work.inside(work.ops.names.index(name)))


def _get_parts(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The work of each instruction by the members that do it, in the order of the module."""
    work: Cost = _costs(programs, params, progress).work
    progress("listing")
    parts, (computed, moved) = work.parts, (runs[work.parts.owner] for runs in work.counted_runs)
    numbers = {
        "flops": parts.flops * computed,
        "transcendentals": parts.transcendentals * computed,
        "read": parts.read * moved,
        "written": parts.written * moved,
        "runs": work.runs[parts.owner],
        "row": work.rows_of_parts,
    }
    strings, codes = {}, {}
    for group in GROUPS:
        strings[group], codes[group] = work.part_keys(group)
    strings["why"], codes["why"] = _reasons(work.unknown | work.why, parts.member)
    described, buffers = _columns(numbers | codes)
    names = b"\n".join(work.ops.names[row] for row in parts.member.tolist())
    return {"length": len(parts.owner), "columns": described, "strings": strings}, [*buffers, pack(names)]


def _listed(work: Cost, rows: Any, measured: Mapping[str, Any] = MappingProxyType({})) -> Answer:
    runs = work.runs[rows]
    strings, codes = _coded(work, rows)
    numbers = {
        "flops": work.flops[rows] * runs,
        "transcendentals": work.transcendentals[rows] * runs,
        "read": work.bytes_read[rows] * runs,
        "written": work.bytes_written[rows] * runs,
        "runs": runs,
        "row": work.places.row[rows],
        **measured,
    }
    names = b"\n".join(work.ops.names[row] for row in rows.tolist())
    described, buffers = _columns(numbers | codes)
    return {"length": len(rows), "columns": described, "strings": strings}, [*buffers, pack(names)]


def _coded(work: Cost, rows: Any) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Names and, per instruction, their numbers: of every group, and why FLOPs are unknown (-1 known)."""
    strings, codes = {}, {}
    for group in GROUPS:
        strings[group], codes[group] = work.keys(group, rows)
    strings["why"], codes["why"] = _reasons(work.unknown | work.why, rows)
    return strings, codes


def _reasons(reasons_of_rows: Mapping[int, str], rows: Any) -> tuple[list[str], Any]:
    """The distinct reasons, and the index of each row's reason; -1 for a row without one."""
    codes = np.full(len(rows), -1, np.int64)
    known = [place for place, row in enumerate(rows.tolist()) if reasons_of_rows.get(row)]
    reasons, codes[known] = numbered([reasons_of_rows[row] for row in rows[known].tolist()])
    return reasons, codes


def _columns(columns: Mapping[str, Any]) -> tuple[list[dict[str, str]], list[bytes]]:
    described, buffers = [], []
    for name, column in columns.items():
        kind = _KINDS[column.dtype.kind]
        described.append({"name": name, "dtype": kind})
        buffers.append(pack(np.ascontiguousarray(column, f"<{kind}").tobytes()))
    return described, buffers


def _get_groups(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The totals of one group, the most bytes first."""
    group = given.text(params, "group")
    if group not in GROUPS:
        raise BadRequest(f"there is no group {given.quoted(group)}; there is {', '.join(GROUPS)}")
    return _grouped(_costs(programs, params, progress).by(group), group, "instructions")


def _grouped(table: Table, group: str, members: str) -> Answer:
    named = {"flops": "FLOPs", "read": "bytes read", "written": "bytes written", "unknown": "FLOPs unknown"}
    named["instructions"] = members
    names = ("transcendentals", "row")
    why = {row: reason for (row, name), reason in table.reasons.items() if name == "FLOPs"}
    reasons, codes = _reasons(why, np.arange(len(table)))
    described, buffers = _columns({name: table[named.get(name, name)] for name in (*named, *names)} | {"why": codes})
    listed, strings = [name or "" for name in table[group]], {"why": reasons}
    return {"group": group, "length": len(table), "columns": described, "names": listed, "strings": strings}, buffers


def _get_equations(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """All equations of the jaxpr, the most FLOPs first, as columns; what repeats is numbered."""
    counted = _equations(programs, params, progress)
    rows, runs = counted.order, counted.runs[counted.order]
    numbers = {
        "flops": counted.flops[rows] * runs,
        "transcendentals": counted.transcendentals[rows] * runs,
        "read": counted.read[rows] * runs,
        "written": counted.written[rows] * runs,
        "runs": runs,
        "row": counted.places.row[rows],
    }
    strings, codes = {}, {}
    for group in equations.GROUPS:
        names, place = counted.keys(group)
        strings[group], codes[group] = names, place[rows]
    for name, reasons in (("why", counted.unknown), ("uncertain", counted.uncertain)):
        strings[name], codes[name] = _reasons(reasons, rows)
    described, buffers = _columns(numbers | codes)
    return {"length": len(rows), "columns": described, "strings": strings, "notes": list(counted.notes)}, buffers


def _get_equation_groups(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The totals of one group of equations, the most FLOPs first."""
    group = given.text(params, "group")
    if group not in equations.GROUPS:
        raise BadRequest(f"there is no group {given.quoted(group)}; there is {', '.join(equations.GROUPS)}")
    return _grouped(_equations(programs, params, progress).by(group), group, "equations")


def _get_roofline(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    roof = _costs(programs, params, progress).roofline
    shown = np.flatnonzero(np.isfinite(roof.attainable) | np.isfinite(roof.achieved))
    kinds, bound = numbered([roof.bound[i] for i in shown])
    units, unit = numbered([roof.unit[i] for i in shown])
    lines, line = numbered([roof.line[i] for i in shown])
    numbers = {
        "intensity": roof.intensity[shown],
        "attainable": roof.attainable[shown],
        "achieved": roof.achieved[shown],
        "flops": roof.flops[shown],
        "bytes": roof.moved[shown],
        "near": roof.near[shown],
        "hidden": roof.hidden[shown],
        "seconds": roof.seconds[shown],
        "row": roof.row[shown],
        "bound": bound,
        "unit": unit,
        "line": line,
    }
    described, buffers = _columns(numbers)
    names = "\n".join(roof.names[i] for i in shown).encode()
    return {
        "device": roof.title,
        "peaks": roof.peaks,
        "bandwidth": roof.bandwidth,
        **({"caches": roof.caches} if roof.caches is not None else {}),
        "verdict": roof.verdict,
        "notes": [note for note in (roof.left_out, *roof.notes) if note],
        "length": len(shown),
        "columns": described,
        "strings": {"bound": kinds, "unit": units, "line": lines},
    }, [*buffers, pack(names)]


def _get_heat(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """A measure per row of the HLO document, of the rows that have one; NaN unknown.

    `value` stands at the row: a fusion has that of its members, which have their own too. `own` is what counts for the
    row's line and for the whole, so that nothing counts twice.
    """
    measure = given.text(params, "measure")
    if measure not in (*MEASURES, MEMORY):
        raise BadRequest(f"there is no measure {given.quoted(measure)}; there is {', '.join((*MEASURES, MEMORY))}")
    if measure == MEMORY:
        return _get_memory_heat(programs, params, progress)
    work: Cost = _costs(programs, params, progress).work
    is_flops = measure == "FLOPs"
    whole, parts = (work.flops, work.parts.flops) if is_flops else (work.moved, work.parts.moved)
    runs = work.counted_runs[0 if is_flops else 1]
    rows = int(np.max(work.places.row, initial=0)) + 1
    own = _at_rows(work.rows_of_parts, parts * runs[work.parts.owner], rows)
    shown = _at_rows(work.places.row[work.shown], (whole * runs)[work.shown], rows)
    value = np.where(shown != 0, shown, own)
    measured = np.flatnonzero((value != 0) | (own != 0))
    described, buffers = _columns({"row": measured, "value": value[measured], "own": own[measured]})
    return {"columns": described}, buffers


def _get_memory_heat(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The bytes that are live at the peak, at the rows of what computes them."""
    live = memory_of(given.program(programs, params), progress.heard).peak_set
    row = np.asarray(live["row"], np.int64)
    value = _at_rows(row, np.asarray(live["size"], np.float64), int(np.max(row, initial=0)) + 1)
    holding = np.flatnonzero(value)
    described, buffers = _columns({"row": holding, "value": value[holding]})
    return {"columns": described}, buffers


def _at_rows(row: Any, values: Any, rows: int) -> Any:
    """The sum at each row of a document."""
    return np.bincount(row[row >= 0], values[row >= 0], rows)


METHODS: dict[str, given.Method] = {
    "cost": jobs.slow(_get_cost),
    "members": jobs.slow(_get_members),
    "cost_parts": jobs.slow(_get_parts),
    "cost_groups": jobs.slow(_get_groups),
    "equations": jobs.slow(_get_equations),
    "equation_groups": jobs.slow(_get_equation_groups),
    "ledger": jobs.slow(_get_ledger),
    "roofline": jobs.slow(_get_roofline),
    "heat": jobs.slow(_get_heat),
}
