"""What is near an instruction of the optimised HLO: operands, users, callers, with lines and costs; never a module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Unpack

import numpy as np

from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.ir.hlo import parts
from jaxstage_ext.program.near import near_wording as wording
from jaxstage_ext.program.near.hops import Neighbour, neighbours, users
from jaxstage_ext.program.near.named_instruction import named_instruction
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.brief_text import brief_text
from jaxstage_ext.report.text.cell_text import cell, plain
from jaxstage_ext.report.text.table_forms import html_of

MOST_BYTES = 4000
"""Of the text form, in UTF-8."""
_MOST_ROWS, _MOST_HOPS, _LONGEST_TYPE = 60, 9, 120


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """An instruction and what is near it, the nearest first; prints in at most 4 kB."""

    headline: str
    table: Table

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON; with `limit`, `by` or `where`, rows of it, as `Table.to_json` has them."""
        return self.table.to_json(**rows)

    @cached_property
    def _text(self) -> str:
        lines = [_line(self.table, row) for row in range(len(self.table))]
        return brief_text([self.headline, *self.table.notes], lines, [], MOST_BYTES)

    def __str__(self) -> str:
        return self._text

    __repr__ = _repr_llm_ = __str__

    def _repr_html_(self) -> str:
        return html_of([self.headline, self.table])


def neighbourhood(program: Program, name: str, hops: int = 1) -> Neighbourhood:
    """What is near an instruction.

    Raises ValueError, in one line with the nearest names, for one that is not there; and Unavailable where nothing was
    compiled.
    """
    if not isinstance(hops, int) or isinstance(hops, bool) or not 0 <= hops <= _MOST_HOPS:
        raise ValueError(wording.bad_hops(hops))
    counted, row = work(program), named_instruction(program, name)
    ops = counted.ops
    near, more = neighbours(ops, row, hops, _MOST_ROWS)
    notes = (wording.left_out(more, hops),) if more else ()
    head = wording.head(ops.names[row].decode("utf-8", "replace"), ops.opcode[row].decode(),
                        ops.computations[ops.computation[row]], len(users(ops, row)))  # fmt: skip
    return Neighbourhood(head, _table(counted, near, notes))


def _table(counted: Cost, near: Sequence[Neighbour], notes: tuple[str, ...]) -> Table:
    ops, rows = counted.ops, np.array([one.row for one in near], np.int64)
    columns = {
        "relation": Column([one.relation.value for one in near], "", "to the instruction that was asked for"),
        "hops": Column([one.hops for one in near], "", "how many operands or users lie between, and itself"),
        "instruction": Column([ops.names[row].decode("utf-8", "replace") for row in rows]),
        "opcode": Column([ops.opcode[row].decode() for row in rows]),
        "type": Column([parts.text(ops.shapes, int(row)) for row in rows]),
        "FLOPs": Column(counted.total(counted.flops)[rows], "FLOP", "over all runs"),
        "bytes": Column(counted.total(counted.moved)[rows], "B", "read and written over all runs; 0 inside a fusion"),
        "runs": Column(counted.runs[rows], "", "times in one run of the module"),
        "line": Column([counted.lines[row] for row in rows]),
        "row": Column(counted.places.row[rows], "", "row of the HLO document"),
    }
    why = counted.unknown | counted.why
    reasons = {(at, "FLOPs"): why[row] for at, row in enumerate(rows.tolist()) if row in why}
    scopes = [counted.scopes[row] for row in rows.tolist()]
    return Table("near", columns, reasons, notes, remarks=counted.line_remarks(rows), scopes=scopes)


def _line(table: Table, row: int) -> str:
    """`operand 1 %dot.3 dot f32[8,8] 1 kFLOP 2 kB a.py:3 (mlp)`."""
    at = {name: plain(column.values[row]) for name, column in table.columns.items()}
    flops = cell(at["FLOPs"], "FLOP")
    flops = f"FLOPs unknown ({table.reasons[row, 'FLOPs']})" if (row, "FLOPs") in table.reasons else flops
    place = f"{at['line']}{' (inferred)' if (row, 'line') in table.remarks else ''}" if at["line"] else "no line"
    scope = f" ({table.scopes[row]})" if table.scopes[row] else ""
    relation = at["relation"] if not at["hops"] else f"{at['relation']} {at['hops']}"
    kind = f"{at['instruction']} {at['opcode']} {str(at['type'])[:_LONGEST_TYPE]}"
    return f"- {relation}: {kind}, {flops}, {cell(at['bytes'], 'B')}, {place}{scope}"
