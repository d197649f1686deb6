"""One use of `%%profile`: which code it profiles, and what it returns."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.notebook import staging
from jaxstage_ext.notebook.cells.cell import run_but
from jaxstage_ext.notebook.cells.running_cell import RunningCell
from jaxstage_ext.notebook.lines import command_line, profile_line
from jaxstage_ext.notebook.magic_request import OF_BUTTON, MagicRequest
from jaxstage_ext.notebook.profiles import profiled_code
from jaxstage_ext.notebook.profiles.measured_profile import MeasuredProfile
from jaxstage_ext.notebook.profiles.profiled_call import StagedProfile, is_staged
from jaxstage_ext.notebook.profiles.profiled_python import PythonProfile


class ProfileRequest(MagicRequest):
    """A magic's line and what it profiles. Raises UsageError for a line that cannot be parsed."""

    def __init__(self, ip: Any, running_cell: RunningCell, kind: str, asked: command_line.Command) -> None:
        super().__init__(ip, running_cell, kind, asked)
        self.inspection: Any = None
        profile_line.check(asked.options)
        self.on_line = command_line.expressions(asked.code)
        for node in self.on_line:
            if isinstance(node, ast.Name | ast.Attribute | ast.Constant):
                raise UsageError(f"'{ast.unparse(node)}' is not a call; profile one such as step(params, batch)")

    async def run_cell(self, line: str, cell: str) -> Any:
        """Run the cell but for what is profiled, then that. Returns its value."""
        source, typed, calls = self.placed(line, cell)
        on_line = [_statement(node) for node in calls]
        choose = _nothing if on_line else profiled_code.last_statements
        ran, last = await run_but(self.ip, source, self.running_cell.number, typed, choose)
        file = OF_BUTTON if self.from_toolbar and on_line else ran.file
        value = await self._profile(on_line or last, file, self.ip.user_ns)
        return None if ran.quiet else value

    async def run_line(self, line: str, local_ns: dict[str, Any] | None, frame: FrameType | None) -> Any:
        """Profile the calls of a line magic. Returns the Inspection where the line is assigned, otherwise the value."""
        if not self.on_line:
            raise UsageError("name a call to profile, for example %profile step(params, batch)")
        staging.check_jax()
        file, text, nodes = self.placed_on(frame, line)
        value = await self._profile([*map(_statement, nodes)], file, self.namespace(local_ns))
        if self.is_assigned(text):
            return self.inspection
        return None if line.rstrip().endswith(";") else value

    async def _profile(self, body: list[ast.stmt], file: str, space: dict[str, Any]) -> Any:
        call = profiled_code.single_call(body)
        made: StagedProfile | PythonProfile | MeasuredProfile
        if self.options.measure:
            made = MeasuredProfile(self.ip, self.options, body, file, space)
        elif call is not None and await is_staged(self.ip, call, file, space):
            made = StagedProfile(self.ip, self.options, self.running_cell.label, call, file, space)
        else:
            made = PythonProfile(self.ip, self.options, self.running_cell.label, body, file, space)
        try:
            return await made.run()
        finally:
            self.inspection = made.inspection
            self.bind(self.inspection)


def _statement(node: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(node), node)


def _nothing(body: list[ast.stmt]) -> list[ast.stmt]:
    return []
