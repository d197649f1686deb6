"""Whether an argument is donated, and whether a result takes the memory of each of its leaves."""

from __future__ import annotations

from jaxstage_ext.analysis.memory.entry_values import ArgumentMemory, Donation
from jaxstage_ext.analysis.memory.memory_advice import concerns, parameter
from jaxstage_ext.findings.memory.entry_by_module import module_values
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import memory
from jaxstage_ext.testing import assertion_wording as wording


def undonated(program: Program, name: str) -> tuple[list[ArgumentMemory], int]:
    """The leaves of an argument whose memory no result takes by a donation, and how many leaves there are.

    Raises LookupError where the function has no such argument, and where JAX does not name its arguments.
    """
    entry = memory.entry(program)
    if entry is None:
        raise LookupError(wording.NOT_SAID)
    every = [argument for argument in entry.arguments if concerns(argument.name, name)]
    if not every:
        names = dict.fromkeys(parameter(argument.name) for argument in entry.arguments)
        raise LookupError(wording.no_argument(name, [*names]))
    kept = {argument.name: argument for argument in module_values(program)[0]}
    leaves = [
        kept.get(one.name) or ArgumentMemory(one.name, one.shape, one.size, None, one.donated, one.kept, (), read=False)
        for one in every
    ]
    return [leaf for leaf in leaves if leaf.donation is not Donation.USED], len(leaves)
