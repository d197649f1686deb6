"""A program against the peaks of the device that it is compiled for."""

from __future__ import annotations

from dataclasses import replace

import jax

from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.cost import roofline as rooflines
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.core.targets import machine_ceilings
from jaxstage_ext.core.targets.devices import Device
from jaxstage_ext.program.device.device_figures import device_of
from jaxstage_ext.program.device.target_title import part_used, target_platform
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.causeless_collectives import causeless_collectives
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.program.running.measured import Measured


@fact
def device_roofline(program: Program) -> Roofline:
    """The module against the peaks of its device: the catalogue's, or those measured of this machine's CPU.

    All are unknown where there are none. What was known when it was first asked for stays, so that all views agree.
    """
    device, platform = device_of(program), target_platform(program)
    exposed = exposed_time.read(causeless_collectives(program))
    named = replace(device, title=device.title + part_used(program)) if device else Device(_title(program))
    read = rooflines.read(work(program), named, platform, exposed)
    is_measurable = device is None and platform == "cpu" and not program.own_device
    return replace(read, how_to_measure=machine_ceilings.HOW_TO_MEASURE) if is_measurable else read


def with_measured(roof: Roofline, times: Measured | None) -> Roofline:
    """The roofline with the measured time of each instruction."""
    return roof if times is None else replace(roof, measured=times.seconds[roof.rows])


def _title(program: Program) -> str:
    if program.own_device:
        return program.own_device
    return f"this kernel's {jax.default_backend()}" if program.target.is_local else str(program.target)
