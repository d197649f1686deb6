"""A program against the peaks of the device that it is compiled for."""

from __future__ import annotations

import jax

from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.cost import roofline as rooflines
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.core.targets.devices import Device
from jaxstage_ext.program.causeless_collectives import causeless_collectives
from jaxstage_ext.program.device_figures import device_of
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.module_work import work
from jaxstage_ext.program.program import Program

_PLATFORMS = {"gpu": "cuda"}


@fact
def device_roofline(program: Program) -> Roofline:
    """The module against the catalogue's peaks of its device; all unknown where the device is not in it."""
    platform, device = program.target.platform or jax.default_backend(), device_of(program)
    exposed = exposed_time.read(causeless_collectives(program))
    return rooflines.read(work(program), device or Device(_title(program)), _PLATFORMS.get(platform, platform), exposed)


def _title(program: Program) -> str:
    return f"this kernel's {jax.default_backend()}" if program.target.is_local else str(program.target)
