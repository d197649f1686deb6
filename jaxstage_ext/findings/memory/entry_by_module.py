"""The arguments and results of a program by its optimised module, read once for all that look at them."""

from __future__ import annotations

from jaxstage_ext.analysis.memory import entry_values
from jaxstage_ext.analysis.memory.entry_values import ArgumentMemory, ResultMemory
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import memory


@fact
def module_values(program: Program) -> tuple[list[ArgumentMemory], list[ResultMemory]]:
    """Arguments that XLA kept, and results, in the module's order. Raises Unavailable where there is no module."""
    return entry_values.of_module(program.module, memory.entry(program))
