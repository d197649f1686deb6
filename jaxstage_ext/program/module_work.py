"""What each instruction of the optimised module, and each equation of the jaxpr, costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost import equations as equation_costs
from jaxstage_ext.analysis.cost import module_cost
from jaxstage_ext.analysis.cost.equations import Equations
from jaxstage_ext.analysis.cost.module_cost import Cost, Places
from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.instruction_places import instruction_places, line_label
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.unavailable import Unavailable


@fact
def work(program: Program) -> Cost:
    """The figures of each HLO instruction, and how often it runs. Raises Unavailable where nothing was compiled."""
    return module_cost.read(program.module, instruction_places(program))


@fact
def equations(program: Program) -> Equations:
    """What each equation of the jaxpr costs. Raises Unavailable where JAX traced none."""
    if (traced := program.jax_traced) is None:
        raise Unavailable(f"{program.name} was not traced by JAX, so there is no jaxpr to count")
    row_of, document = jaxpr_lines.rows(traced.jaxpr), program.documents["jaxpr"]

    def places_of_equations(eqns: Sequence[Any]) -> Places:
        row = np.array([row_of.get(id(eqn), -1) for eqn in eqns], np.int64)
        frame = np.where(row >= 0, document.user_frame[row], -1)
        labels = {int(number): line_label(document.frames, int(number)) for number in np.unique(frame)}
        scopes = (*document.scopes, "")
        scope = np.where(row >= 0, document.scope[row], -1)
        return Places(row, [labels[number] for number in frame.tolist()], [scopes[number] for number in scope.tolist()])

    return equation_costs.read(traced.jaxpr, places_of_equations)
