"""XLA's partitioner of a program, which needs its lowered module alone."""

from __future__ import annotations

from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.layout.partitioner import Partitioner
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.unavailable import Unavailable

WORKERS = 2


@fact
def partitioner_of(program: Program) -> Partitioner:
    """The partitioner. Raises Unavailable where nothing was lowered, and where it does not take the program."""
    if (lowered := program.jax_lowered) is None:
        raise Unavailable(f"{program.name} was not lowered by JAX, so there is nothing to partition")
    return Partitioner(lowered_modules.module_bytecode(lowered), WORKERS)
