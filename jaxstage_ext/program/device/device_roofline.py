"""A program against the peaks of the device that it is compiled for."""

from __future__ import annotations

from dataclasses import replace

import jax

from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.cost import roofline as rooflines
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.core.targets import quick_ceilings
from jaxstage_ext.core.targets.devices import Device
from jaxstage_ext.core.targets.quick_ceilings import NotMeasured
from jaxstage_ext.program.device import ceiling_wording
from jaxstage_ext.program.device.device_figures import device_of, is_for_this_machine, measured_ceilings
from jaxstage_ext.program.device.target_title import part_used, target_platform
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.causeless_collectives import causeless_collectives
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.program.running.measured import Measured


def device_roofline(program: Program) -> Roofline:
    """The module against the peaks of its device: the catalogue's, or those measured of this machine's CPU.

    All are unknown where there are none. What was known when it was first asked for stays, so that all views agree;
    unknown stays only what nobody can measure.
    """
    if (known := _lasting.known(program)) is not None:
        return known
    device = device_of(program)
    reason = _not_measured(program) if device is None else None
    if reason is None or reason not in _FOR_NOW:
        return _lasting(program)
    kept = _for_now(program)
    if reason not in kept:
        kept[reason] = _read(program, device, reason)
    return kept[reason]


_FOR_NOW = frozenset(NotMeasured) - {NotMeasured.SEVERAL_PROCESSES}
"""What the user can change, as the remedy says: `%targets --measure` and its setting."""


@fact
def _for_now(program: Program) -> dict[NotMeasured, Roofline]:
    """What is unknown, by the reason that the user can change."""
    return {}


@fact
def _lasting(program: Program) -> Roofline:
    device = device_of(program)
    return _read(program, device, _not_measured(program) if device is None else None)


def _not_measured(program: Program) -> NotMeasured | None:
    """Why there are no ceilings of this machine's CPU; None where they are not what the program is held against."""
    if not is_for_this_machine(program):
        return None
    found = measured_ceilings(program)
    return found if isinstance(found, NotMeasured) else None


def _read(program: Program, device: Device | None, reason: NotMeasured | None) -> Roofline:
    platform = target_platform(program)
    exposed = exposed_time.read(causeless_collectives(program))
    named = replace(device, title=device.title + part_used(program)) if device else Device(_title(program))
    read = rooflines.read(work(program), named, platform, exposed)
    return replace(read, how_to_measure=ceiling_wording.remedy(reason, quick_ceilings.failure())) if reason else read


def with_measured(roof: Roofline, times: Measured | None) -> Roofline:
    """The roofline with the measured time of each instruction."""
    return roof if times is None else replace(roof, measured=times.seconds[roof.rows])


def _title(program: Program) -> str:
    if program.own_device:
        return program.own_device
    return f"this kernel's {jax.default_backend()}" if program.target.is_local else str(program.target)
