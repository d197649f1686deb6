"""A magic's line in an engine: its calls are found as in the notebook's kernel, staged, and neither run nor shown."""

from __future__ import annotations

import ast
from typing import Any

from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.compilation.records.compile_record import Place
from jaxstage_ext.core.call import Call
from jaxstage_ext.notebook.cell_request import Request
from jaxstage_ext.notebook.magic_request import OF_BUTTON


class EngineRequest(Request):
    """One use of a magic in one engine.

    Attributes:
      inspections: of each call, for its first target.
    """

    inspections: tuple[Inspection, ...] = ()

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._places: list[tuple[Call, Place]] = []

    def place(self, inspection: Inspection) -> Place | None:
        """The line with the call, or that of the function where the cell only defines it; None where unknown."""
        known = next((place for call, place in self._places if call is inspection.call), None)
        defined = inspection.program.definition
        return known or (Place(*defined, "") if defined is not None else None)

    async def _stated(self, node: ast.expr, file: str, space: dict[str, Any]) -> Call:
        call = await super()._stated(node, file, space)
        if file != OF_BUTTON:
            self._places.append((call, Place(file, node.lineno, "")))
        return call

    async def _show_memory_of(self, cell_error: BaseException, on_line: list[ast.expr]) -> None:
        """Nothing: an engine shows nothing."""

    def _stage(self, calls: list[Call]) -> tuple[tuple[Any, ...], Any]:
        """The Inspections. What a stage raises is kept in them."""
        from jaxstage_ext.api.inspect import prepare

        self.dims.check_used()
        plan = self._plan
        assert plan is not None
        groups = [prepare(call, self.kind, plan.targets, plan.limits, plan.option_sets) for call in calls]
        self.inspections = tuple(group[0] for group in groups)
        for group in groups:
            for inspection in group:
                inspection.advance()
        return self.inspections, None
