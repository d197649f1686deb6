"""A program against the peaks of the device that it is compiled for."""

from __future__ import annotations

import jax

from jaxstage_ext.analysis.collectives import exposed_time
from jaxstage_ext.analysis.cost import roofline as rooflines
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.core.targets import devices
from jaxstage_ext.core.targets.devices import Device
from jaxstage_ext.program.causeless_collectives import causeless_collectives
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.module_work import work
from jaxstage_ext.program.program import Program

_PLATFORMS = {"gpu": "cuda"}


@fact
def device_roofline(program: Program) -> Roofline:
    """The module against the catalogue's peaks of its device; all unknown where the device is not in it."""
    target, platform = program.target, program.target.platform or jax.default_backend()
    device = devices.share(target) if not target.is_local else _here()
    exposed = exposed_time.read(causeless_collectives(program))
    return rooflines.read(work(program), device or Device(_title(program)), _PLATFORMS.get(platform, platform), exposed)


def _here() -> Device | None:
    """The catalogue's figures of one of the kernel's own devices; None where it has none."""
    local = jax.local_devices()
    chips = len({getattr(device, "coords", None) for device in local}) if hasattr(local[0], "coords") else len(local)
    return devices.by_kind(local[0].device_kind, chips / len(local))


def _title(program: Program) -> str:
    return f"this kernel's {jax.default_backend()}" if program.target.is_local else str(program.target)
