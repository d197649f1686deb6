"""What a cell's last line gives to stage: whole calls, or those within a statement."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.notebook.cells import calls as calling
from jaxstage_ext.notebook.cells import part_wording, statement_calls
from jaxstage_ext.notebook.cells.calls_within import CallsWithin
from jaxstage_ext.notebook.cells.cell import Cell, execute, modes
from jaxstage_ext.notebook.lines.arguments import Dims

_ANY, _USERS, _OWN = 1, 2, 3
_VALUE = "_jaxstage_value_{}"


@dataclass(frozen=True)
class CallsOfStatement:
    """Calls to stage within a statement, which has not been run."""

    statement: ast.stmt
    calls: list[ast.Call]

    def told(self, runs_with: str) -> str:
        """That they are inspected and the statement was not run; `runs_with` is the magic that would run it, or ""."""
        return part_wording.told(list(map(ast.unparse, self.calls)), statement_calls.targets(self.statement), runs_with)

    async def run(self, ip: Any, file: str, values: Any) -> Any:
        """Run the statement with the values of its calls, one or a tuple. Returns what an expression is worth."""
        each = (values,) if len(self.calls) == 1 else values
        names = {call: _VALUE.format(number) for number, call in enumerate(self.calls)}
        statement = statement_calls.with_values(self.statement, names)
        ip.user_ns.update(zip(names.values(), each, strict=True))
        try:
            if isinstance(statement, ast.Expr):
                return await execute(ip, statement.value, file, "eval")
            return await execute(ip, statement, file, "exec")
        finally:
            for name in names.values():
                ip.user_ns.pop(name, None)


async def within(ip: Any, ran: Cell, dims: Dims) -> CallsOfStatement | None:
    """The calls to stage within the cell's last statement; None where there are none, or it is a call to stage."""
    statement = ran.holder
    if statement is None:
        if len(ran.calls) != 1 or not isinstance(ran.calls[0], ast.Call):
            return None
        statement = ast.copy_location(ast.Expr(ran.calls[0]), ran.calls[0])
    value = statement_calls.value_of(statement)
    assert value is not None

    async def evaluate(node: ast.expr) -> Any:
        return await execute(ip, node, ran.file, "eval")

    finder = CallsWithin(evaluate, frozenset(_functions(ip, ran)), _least(ip, ran, dims))
    found = await finder.of(value)
    return None if not found or found == ran.calls else CallsOfStatement(statement, found)


async def run_whole(ip: Any, ran: Cell) -> None:
    """Run the statement that was left out, as in a plain cell."""
    assert ran.holder is not None
    for node, mode in modes([ran.holder], ip.ast_node_interactivity, quiet=ran.quiet):
        await execute(ip, node, ran.file, mode)


def _functions(ip: Any, ran: Cell) -> list[str]:
    """The functions that the cell has defined before its last statement."""
    unassigned = statement_calls.targets(ran.holder) if ran.holder is not None else []
    return [n for n in ran.functions if n not in unassigned and calling.is_function(ip.user_ns.get(n))]


def _least(ip: Any, ran: Cell, dims: Dims) -> int:
    """How sure it must be that a call within a statement is the one to stage, given the cell's own functions.

    Where their arguments are known, they are what is staged. Without any, the statement is all that there is.
    """
    functions = _functions(ip, ran)
    for name in functions:
        try:
            calling.arguments(ip.user_ns[name], name, None, dims)
        except Exception:  # it cannot be staged by itself
            continue
        return _OWN
    return _USERS if functions else _ANY
