"""Where the equations that a finding is about stand: the user's line, and the row of the jaxpr document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import equation_lines
from jaxstage_ext.program.questions.equation_lines import HoldingEquations


class EquationPlaces:
    """The places of equations of the jaxpr of a program."""

    def __init__(self, program: Program) -> None:
        self._jaxpr = program.jax_traced.jaxpr
        self._table = program.frame_table
        self._frame_of = jaxpr_lines.frame_reader(program.frame_table)
        self._holding = HoldingEquations(self._jaxpr.jaxpr)

    def line(self, eqn: Any) -> str:
        """The innermost line of the user's of an equation or of those that hold it; "" without."""
        around = [self._frame_of(one) for one in (eqn, *self._holding.around(eqn))]
        return equation_lines.users_line(self._table.freeze(), around)

    def rows(self, equations: Iterable[Any]) -> tuple[int, ...]:
        """The rows of equations, in the order of the document."""
        row_of = jaxpr_lines.rows(self._jaxpr)
        return tuple(sorted({row_of[id(eqn)] for eqn in equations if id(eqn) in row_of}))
