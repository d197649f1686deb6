"""What each instruction of the optimised module, and each equation of the jaxpr, costs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost import equations as equation_costs
from jaxstage_ext.analysis.cost import jaxpr_cost, module_cost
from jaxstage_ext.analysis.cost.equations import Equations
from jaxstage_ext.analysis.cost.module_cost import Cost, Places
from jaxstage_ext.analysis.cost.rules import kernel_calls
from jaxstage_ext.analysis.cost.rules.kernel_calls import PallasKernel
from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.given import lacking_stage
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import instruction_places, line_label
from jaxstage_ext.report.unavailable import Unavailable


@fact
def work(program: Program) -> Cost:
    """The figures of each HLO instruction, and how often it runs. Raises Unavailable where nothing was compiled."""
    module, places = program.module, instruction_places(program)
    return module_cost.read(module, places, kernel_calls.count(module, places.line, _kernels(program)))


def _kernels(program: Program) -> list[PallasKernel]:
    """The Pallas kernels of the jaxpr, where the module has custom calls that may be kernels."""
    traced = program.jax_traced
    if traced is None or not kernel_calls.calls(program.module):
        return []
    leaves = jaxpr_cost.leaves(traced.jaxpr)
    eqns = list({id(leaf.eqn): leaf.eqn for leaf in leaves if leaf.eqn.primitive.name == "pallas_call"}.values())
    lines = _places_of_equations(program, eqns).line
    return [kernel_calls.kernel(eqn, line) for eqn, line in zip(eqns, lines, strict=True)]


def share_on_chip(program: Program) -> float:
    """The share of the bytes moved that stay in a TPU's memory on the chip, 0 to 1."""
    return work(program).near_share if platform(program) == "tpu" else 0.0


def share_on_host(program: Program) -> float:
    """The share of the bytes moved that are in the host's memory, 0 to 1; a CPU's own memory is the host's."""
    return 0.0 if platform(program) == "cpu" else work(program).host_share


@fact
def equations(program: Program) -> Equations:
    """What each equation of the jaxpr costs. Raises Unavailable where JAX traced none."""
    if (traced := program.jax_traced) is None:
        why = f"{program.name} was not traced by JAX, so there is no jaxpr to count"
        raise Unavailable(lacking_stage.without_jaxpr(program.call, "no equations can be counted", why))
    return equation_costs.read(traced.jaxpr, functools.partial(_places_of_equations, program))


def _places_of_equations(program: Program, eqns: Sequence[Any]) -> Places:
    """Where equations of the jaxpr stand: row of its document, source line, name scope."""
    traced, document = program.jax_traced, program.documents["jaxpr"]
    row_of = jaxpr_lines.rows(traced.jaxpr) if traced is not None else {}
    row = np.array([row_of.get(id(eqn), -1) for eqn in eqns], np.int64)
    frame = np.where(row >= 0, document.user_frame[row], -1)
    labels = {int(number): line_label(document.frames, int(number)) for number in np.unique(frame)}
    scopes = (*document.scopes, "")
    scope = np.where(row >= 0, document.scope[row], -1)
    return Places(row, [labels[number] for number in frame.tolist()], [scopes[number] for number in scope.tolist()])
