"""The requests that the cost view makes: what bounds the program, the ledger, instructions, groups, the roofline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost import cost_wording, equations
from jaxstage_ext.analysis.cost.equations import Equations
from jaxstage_ext.analysis.cost.module_cost import GROUPS, Cost
from jaxstage_ext.analysis.cost.work_columns import with_bytes
from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Params, Programs
from jaxstage_ext.panel.wire_form import CodedTexts, TextLines, packed, packed_table
from jaxstage_ext.program.device import device_figures
from jaxstage_ext.program.questions import ledger
from jaxstage_ext.program.questions.cost import Costs, cost
from jaxstage_ext.program.questions.memory import memory as memory_of
from jaxstage_ext.report.table import Column, Table, plain

MEASURES = ("FLOPs", "bytes")
MEMORY = "memory"
_WORK = {
    "bytes read": "read",
    "bytes written": "written",
    "intensity": "FLOP/B",
    "transcendentals": "transc.",
}
_INSTRUCTIONS = {
    "instruction": "instruction",
    "opcode": "op",
    "dtype": "dtype",
    "FLOPs": "FLOPs",
    "bytes": "bytes",
    "estimated": "estimated",
    "time": "time",
    "FLOP/s": "FLOP/s",
    "bytes/s": "B/s",
    "of roof": "of roof",
    "line": "line",
    **_WORK,
    "runs": "runs",
    "scope": "scope",
    "computation": "in",
}
_EQUATIONS = {
    "primitive": "primitive",
    "dtype": "dtype",
    "FLOPs": "FLOPs",
    "bytes": "bytes",
    "line": "line",
    **_WORK,
    "runs": "runs",
    "scope": "scope",
}
_TOTALS = {
    "FLOPs": "FLOPs",
    "bytes": "bytes",
    "estimated": "estimated",
    **_WORK,
    "instructions": "instrs",
    "equations": "eqns",
}
_GROUP_TITLES = {"scope": "name scope", "opcode": "operation"}
_OF_BYTES = ("bytes", "bytes read", "bytes written", "intensity")
_MAY_BE_UNKNOWN = {"line", "scope", "dtype"}
_UNITS = {
    "FLOPs": "FLOP",
    "transcendentals": "",
    "bytes moved": "B",
    "estimated seconds": "s",
    ledger.TIME_OF_A_RUN: "s",
}


def _costs(programs: Programs, params: Params, progress: jobs.JobProgress) -> Costs:
    """The `Costs` that are asked about. Raises BadRequest, in the user's words, where nothing was compiled."""
    program = given.program(programs, params)
    progress("counting")
    costs = cost(program)
    _ = costs.work
    device_figures.ensure_measured(program, progress.heard, waits=False)
    return costs


def _equations(programs: Programs, params: Params, progress: jobs.JobProgress) -> Equations:
    """The jaxpr's equations. Raises BadRequest, in the user's words, where JAX traced none."""
    progress("counting")
    return cost(given.program(programs, params)).equations


def _get_ledger(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    costs = _costs(programs, params, progress)
    work, roof = costs.work, costs.roofline
    return {
        "verdict": " ".join(costs.verdicts),
        "bound": roof.bounded_by,
        "shares": roof.shares,
        "device": roof.title,
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
    """All instructions of the table, the most bytes first."""
    costs = _costs(programs, params, progress)
    progress("listing")
    return _listed(costs.work, costs.work.order, costs.table)


def _get_members(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The instructions that another holds, in their order; where they move nothing, without bytes."""
    work = _costs(programs, params, progress).work
    name = given.text(params, "instruction")
    if name.encode("utf-8", "replace") not in work.ops.names:
        raise BadRequest(f"there is no instruction {given.quoted(name)}")
    return _listed(work, work.inside(work.ops.names.index(name.encode())), work.members(name))


def _listed(work: Cost, rows: Any, table: Table) -> Answer:
    """A table of these instructions, with their scopes and computations."""
    shown = _with_texts(table, {group: work.keys(group, rows) for group in ("scope", "computation")})
    left_out = () if len(rows) == 0 or np.any(shown["bytes"] > 0) else _OF_BYTES
    titles = {name: title for name, title in _INSTRUCTIONS.items() if name in shown.columns and name not in left_out}
    return packed_table(shown, titles, lines=("instruction",))


def _with_texts(table: Table, texts: Mapping[str, Sequence[str]]) -> Table:
    """A table of work as the page shows it: with bytes, with these texts, and unknown where a text is empty."""
    columns = {name: Column(column) for name, column in texts.items()} | dict(with_bytes(table).columns)
    columns["intensity"] = replace(columns["intensity"], unit="")
    for name in _MAY_BE_UNKNOWN & columns.keys():
        columns[name] = replace(columns[name], values=[text or None for text in columns[name].values])
    return replace(table, columns=columns)


def _get_parts(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The work of each instruction by the members that do it, in the order of the module."""
    work = _costs(programs, params, progress).work
    progress("listing")
    parts, why = work.parts, work.unknown | work.why
    scopes, scope = work.part_keys("scope")
    columns = {
        "instruction": Column([work.ops.names[row].decode("utf-8", "replace") for row in parts.member.tolist()]),
        "FLOPs": Column(work.counted(parts.flops), "FLOP"),
        "bytes": Column(work.counted(parts.moved, is_bytes=True), "B"),
        "scope": Column([scopes[at] or None for at in scope.tolist()]),
        "row": Column(work.rows_of_parts),
    }
    reasons = {(at, "FLOPs"): why[row] for at, row in enumerate(parts.member.tolist()) if row in why}
    titles = {name: name for name in columns if name != "row"}
    return packed_table(Table("parts", columns, reasons), titles, lines=("instruction",))


def _get_groups(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The totals of one group, the most bytes first."""
    group = _group(params, GROUPS)
    return _grouped(_costs(programs, params, progress).by(group), group)


def _group(params: Params, groups: Sequence[str]) -> str:
    group = given.text(params, "group")
    if group not in groups:
        raise BadRequest(f"there is no group {given.quoted(group)}; there is {', '.join(groups)}")
    return group


def _grouped(table: Table, group: str) -> Answer:
    shown = _with_texts(table, {})
    titles = {name: title for name, title in _TOTALS.items() if name in shown.columns}
    return packed_table(shown, {group: _GROUP_TITLES.get(group, group), **titles}, beside=("FLOPs unknown",))


def _get_equations(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """All equations of the jaxpr, the most FLOPs first."""
    table = _equations(programs, params, progress).table
    result, buffers = packed_table(_with_texts(table, {}), _EQUATIONS)
    return {**result, "notes": list(table.notes)}, buffers


def _get_equation_groups(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The totals of one group of equations, the most FLOPs first."""
    group = _group(params, equations.GROUPS)
    return _grouped(_equations(programs, params, progress).by(group), group)


def _get_roofline(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    roof = _costs(programs, params, progress).roofline
    shown = np.flatnonzero(np.isfinite(roof.attainable) | np.isfinite(roof.achieved))
    result, buffers = packed(
        {
            "intensity": roof.intensity[shown],
            "attainable": roof.attainable[shown],
            "achieved": roof.achieved[shown],
            "flops": roof.flops[shown],
            "bytes": roof.moved[shown],
            "near": roof.near[shown],
            "hidden": roof.hidden[shown],
            "seconds": roof.seconds[shown],
            "row": roof.row[shown],
            "bound": CodedTexts.of(roof.bound[i] for i in shown),
            "unit": CodedTexts.of(roof.unit[i] for i in shown),
            "line": CodedTexts.of(roof.line[i] for i in shown),
            "instruction": TextLines(roof.names[i] for i in shown),
        }
    )
    return {
        "device": roof.title,
        "peaks": roof.peaks,
        "bandwidth": roof.bandwidth,
        **({"caches": roof.caches} if roof.caches is not None else {}),
        "notes": [note for note in (roof.left_out, *roof.notes) if note],
        **result,
    }, buffers


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
    rows = int(np.max(work.places.row, initial=0)) + 1
    own = _at_rows(work.rows_of_parts, work.counted(parts, not is_flops), rows)
    shown = _at_rows(work.places.row[work.shown], (whole * work.counted_runs[not is_flops])[work.shown], rows)
    value = np.where(shown != 0, shown, own)
    measured = np.flatnonzero((value != 0) | (own != 0))
    return packed({"row": measured, "value": value[measured], "own": own[measured]})


def _get_memory_heat(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    """The bytes that are live at the peak, at the rows of what computes them."""
    live = memory_of(given.program(programs, params), progress.heard).peak_set
    row = np.asarray(live["row"], np.int64)
    value = _at_rows(row, np.asarray(live["size"], np.float64), int(np.max(row, initial=0)) + 1)
    holding = np.flatnonzero(value)
    return packed({"row": holding, "value": value[holding]})


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
