"""The parameters of the compiles tab's requests, and the list that they are answered from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import BadRequest, ErrorKind, Params, Programs

if TYPE_CHECKING:
    from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram

_LARGEST_NUMBER = 2**31 - 1


def history_program(programs: Programs, params: Params) -> CompileHistoryProgram:
    """The program that is asked about. Raises BadRequest where it is not a history of compiles."""
    program = given.program(programs, params)
    if program.tab != "compiles":
        raise BadRequest("this is not a list of compiles", ErrorKind.ABSENT)
    return cast("CompileHistoryProgram", program)


def numbered(program: CompileHistoryProgram, params: Params, name: str = "number") -> CompileRecord:
    """The record that a parameter numbers. Raises BadRequest where there is none."""
    number = given.integer(params, name, 1, _LARGEST_NUMBER)
    found = next((record for record in program.records if record.number == number), None)
    if found is None:
        raise BadRequest(f"there is no compile #{number} in this list; refresh it", ErrorKind.ABSENT)
    return found


def costliest_first(program: CompileHistoryProgram, most: int) -> Sequence[CompileRecord]:
    """At most so many records: those in scope before others, the most expensive before others; oldest first."""
    records = program.records
    if len(records) <= most:
        return records
    in_scope = {record.number for record in program.history.records}
    costs = [(record.number not in in_scope, -record.own_seconds) for record in records]
    kept = set(sorted(range(len(records)), key=costs.__getitem__)[:most])
    return [record for at, record in enumerate(records) if at in kept]
