"""What the devices exchange while the program runs, by the optimised module alone: without causes and overlap."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.analysis.collectives import collective_table
from jaxstage_ext.analysis.collectives.collective_ops import any_in
from jaxstage_ext.analysis.collectives.collective_rows import SourceProgram
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import instruction_places

_NOWHERE = Places(np.zeros(0, np.int64), (), ())


@fact
def causeless_collectives(program: Program) -> Collectives:
    """The collectives of the optimised module. Raises Unavailable where there is none."""
    if not any_in(program.module):
        return Collectives(program.module, _NOWHERE, (), devices=program_devices.device_count(program))
    places, values = program_devices.device_places(program), program_devices.boundary_values(program)
    known = program_devices.meshes(program, values), program_devices.links(program, places)
    about = SourceProgram(len(places), *known, None, "it was not recompiled to find it")
    return collective_table.read(program.module, instruction_places(program), about)
