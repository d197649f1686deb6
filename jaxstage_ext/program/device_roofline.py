"""A program against the peaks of the device that it is compiled for."""

from __future__ import annotations

from dataclasses import replace

import jax

from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.cost import roofline as rooflines
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.core.targets.devices import Device
from jaxstage_ext.program.causeless_collectives import causeless_collectives
from jaxstage_ext.program.device_figures import device_of
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.measured import Measured
from jaxstage_ext.program.module_work import work
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.target_title import target_platform


@fact
def device_roofline(program: Program) -> Roofline:
    """The module against the catalogue's peaks of its device; all unknown where the device is not in it."""
    device = device_of(program) or Device(_title(program))
    exposed = exposed_time.read(causeless_collectives(program))
    return rooflines.read(work(program), device, target_platform(program), exposed)


def with_measured(roof: Roofline, times: Measured | None) -> Roofline:
    """The roofline with the measured time of each instruction."""
    return roof if times is None else replace(roof, measured=times.seconds[roof.rows])


def _title(program: Program) -> str:
    return f"this kernel's {jax.default_backend()}" if program.target.is_local else str(program.target)
